import type { AuditRow, AuditVerdict } from '../../../schemas/audit.ts'
import { useNow } from '../hooks.ts'
import { html } from '../html.ts'
import { relative } from '../time.ts'
import { escapeUnseen } from '../unseen.ts'
import { AUDIT_WORDS, callWords, DOOR_WORDS, toolWords, WORK_WORDS } from '../words.ts'
import { Time } from './time.ts'

interface AuditListProps {
  rows: AuditRow[]
  chain: AuditVerdict | null
  onVerify: () => void
}

/** Lists the newest rows of the audit, and has its chain checked. */
export function AuditList({ rows, chain, onVerify }: AuditListProps) {
  const now = useNow(30_000)
  return html`<div class="card-actions">
      <button type="button" class="quiet" onClick=${onVerify}>Check that nothing was changed</button>
    </div>
    <p class="panel-none" role="status">${chain && verdictOf(chain)}</p>
    <ul class="cards">
      ${rows.map(row => html`<${AuditCard} key=${row.seq} row=${row} now=${now} />`)}
    </ul>`
}

function verdictOf({ first, last, broken }: AuditVerdict) {
  return broken
    ? `Entry ${broken.seq}: ${broken.why}.`
    : `Nothing was changed, from entry ${first} to entry ${last}.`
}

function AuditCard({ row, now }: { row: AuditRow; now: number }) {
  const { seq, at, kind, actor, role, door, power, tool, outcome, details, ...rest } = row
  const facts = Object.keys(details).length === 0 ? '' : JSON.stringify(details, null, 2)
  const text = escapeUnseen([rest.arguments, facts].filter(Boolean).join('\n'))
  return html`<li class="card">
    <div class="card-head">
      <span class="card-name">${AUDIT_WORDS[kind] ?? kind}${tool && html`: ${toolWords(tool)}`}</span>
      <span class="card-state">${callWords(outcome)}</span>
    </div>
    <p class="card-facts">
      <span><${Time} at=${at}>${relative(Math.min(at, now), now)}<//></span>
      <span>by ${escapeUnseen(actor)}${role && role !== actor && ` (${role})`}</span>
      ${door && html`<span>through ${DOOR_WORDS[door] ?? door}</span>`}
      ${power && html`<span>${WORK_WORDS[power]}</span>`}
      <span>entry ${seq}</span>
    </p>
    ${
      text &&
      html`<details class="fold">
      <summary>What it says</summary>
      <pre class="fold-text" tabindex="0" role="region" aria-label=${`What entry ${seq} says`}>${text}</pre>
    </details>`
    }
  </li>`
}
