import { useState } from 'preact/hooks'
import type { Approval } from '../../../../schemas/chat.ts'
import type { Allowance, ListedDeadLetter } from '../../../../schemas/hub-lists.ts'
import { openApprovals } from '../../approvals.ts'
import { useNow } from '../../hooks.ts'
import { html } from '../../html.ts'
import type { SectionProps } from '../../places.ts'
import { relative } from '../../time.ts'
import { useTool } from '../../use-tool.ts'
import { toolWords, WORK_WORDS } from '../../words.ts'
import { ApprovalList } from '../approval-card.ts'
import { AskAgain } from '../ask-again.ts'
import { DeadLetters } from '../dead-letters.ts'
import { Section } from '../section.ts'
import { Time } from '../time.ts'
import { AuditExport } from './audit-export.ts'
import { PolicyQuestion } from './policy-question.ts'

/** Most answered approvals that are shown. */
const ANSWERED = 20

/** Shows what waits for a yes, what runs without one and why, work that failed for good, and the audit. */
export function Rules(props: SectionProps) {
  const [revoked, setRevoked] = useState(0)
  return html`<${Approvals} ...${props} />
    <${Allowances} ...${props} onRevoke=${() => setRevoked(revoked + 1)} />
    <${PolicyQuestion} ...${props} revoked=${revoked} />
    <${Failures} ...${props} />
    <${Section} title="The audit" isLoading=${false}><${AuditExport} mcp=${props.mcp} onAudit=${props.onAudit} /><//>`
}

function Approvals(props: SectionProps) {
  const { chat, session } = props
  const { value, error } = useTool<{ approvals: Approval[] }>(props, 'hub_list_approvals')
  const open = openApprovals(chat.approvals)
  const decided = (value?.approvals ?? []).filter(one => one.status !== 'open').slice(0, ANSWERED)
  return html`<${Section} title="Approvals" error=${error} isLoading=${value === null}>
    ${open.length === 0 && html`<p class="panel-none">Nothing waits for your yes.</p>`}
    <${ApprovalList} open=${open} decided=${[]} deciding=${chat.deciding} onDecide=${session.decide} />
    ${
      decided.length > 0 &&
      html`<details class="fold"><summary>What was answered</summary>
        <${ApprovalList} open=${[]} decided=${decided} deciding=${chat.deciding} onDecide=${session.decide} />
      </details>`
    }
  <//>`
}

function Allowances({ onRevoke, ...props }: SectionProps & { onRevoke: () => void }) {
  const { value, error, read } = useTool<{ allowances: Allowance[] }>(props, 'hub_list_allowances')
  const now = useNow(30_000)
  const revoke = async (id: string) => {
    await props.mcp.call('hub_revoke_allowance', { id })
    onRevoke()
    await read()
  }
  const list = value?.allowances ?? []
  return html`<${Section} title="Allowances" error=${error} isLoading=${value === null}>
    ${list.length === 0 && html`<p class="panel-none">None. Beside a yes you can let a tool run for an hour, a day or a month.</p>`}
    <ul class="cards">
      ${list.map(
        ({ id, agent, tool, power, until, createdBy }) => html`<li class="card" key=${id}>
          <div class="card-head"><span class="card-name">${toolWords(tool)}</span><code class="card-state">${tool}</code></div>
          <p class="card-facts"><span>${agent}</span><span>whenever ${WORK_WORDS[power]}</span><span>ends <${Time} at=${until}>${relative(until, now)}<//></span><span>by ${createdBy}</span></p>
          <${AskAgain} label="Revoke" name=${`Revoke ${tool} of ${agent}`} question="Have it ask again?" yes="Revoke" busy="Revoking…" onYes=${() => revoke(id)} />
        </li>`,
      )}
    </ul>
  <//>`
}

function Failures(props: SectionProps) {
  const { value, error, read } = useTool<{ deadLetters: ListedDeadLetter[] }>(
    props,
    'hub_list_dead_letters',
    {
      status: 'open',
    },
  )
  const act = (tool: string) => async (id: string) => {
    await props.mcp.call(tool, { id })
    await read()
  }
  const letters = value?.deadLetters ?? []
  return html`<${Section} title="Work that failed" error=${error} isLoading=${value === null}>
    ${letters.length === 0 && html`<p class="panel-none">None. What fails for good waits here for a retry.</p>`}
    <${DeadLetters} letters=${letters} marked=${null} onRetry=${act('hub_retry_dead_letter')} onDiscard=${act('hub_discard_dead_letter')} />
  <//>`
}
