import { useRef, useState } from 'preact/hooks'
import type { Approval, MAX_NOTE } from '../../../schemas/chat.ts'
import type { Power } from '../../../schemas/power.ts'
import type { Decision } from '../approvals.ts'
import { useNow } from '../hooks.ts'
import { classes, html, typedIn } from '../html.ts'
import { clockTime, dayAndTime, duration, fullTime } from '../time.ts'
import { escapeUnseen } from '../unseen.ts'
import { reasonWords, toolWords, WORK_WORDS } from '../words.ts'
import { Icon } from './icons.ts'
import { Time } from './time.ts'

/** Most characters of a note that the hub takes. */
const LONGEST_NOTE: typeof MAX_NOTE = 2_000
const HOUR = 3_600_000

/** Sends an answer; returns false where there is no link. */
type Decide = (id: string, decision: Decision, note: string, always: string) => boolean
interface ApprovalCardProps {
  approval: Approval
  deciding?: Decision
  /** Null for who may not answer it. */
  onDecide: Decide | null
  /** Whether a yes may hold for further calls, which is the owner's to say. */
  mayAllow?: boolean
  id?: string
}

/**
 * Shows a call that needs a person's approval: exactly what will run, and the answer; once answered, also by
 * whom, when and where.
 */
export function ApprovalCard({ approval, deciding, onDecide, mayAllow = true, id }: ApprovalCardProps) {
  const { agent, tool, status, reason } = approval
  const ref = useRef<HTMLElement>(null)
  const isOpen = status === 'open'
  const decide = (decision: Decision, note: string, always: string) => {
    // The buttons go away, but the focus must stay.
    ref.current?.focus()
    return onDecide?.(approval.id, decision, note, always) ?? false
  }
  const waits = onDecide ? 'Waits for your yes' : 'Waits for the owner'
  return html`<article class=${`approval approval-${status}`} id=${id} ref=${ref} tabindex="-1" aria-label=${`${isOpen ? waits : TITLES[status]}: ${toolWords(tool)}`}>
    <header class="approval-head">
      <${Icon} name=${ICONS[status]} />
      <span class="approval-title">${isOpen ? (approval.question ? `${agent} is asked something` : `${agent} asks for a yes`) : TITLES[status]}</span>
      ${isOpen && html`<${TimeLeft} until=${approval.expiresAt} />`}
    </header>
    <p class="approval-tool"><b>${toolWords(tool)}</b> <code>${tool}</code></p>
    <${Arguments} value=${approval.arguments} />
    ${isOpen && html`<${Asked} approval=${approval} />`}
    ${isOpen && html`<p class="approval-reason">${approval.question ? 'The question' : 'Why it asks'}: ${escapeUnseen(approval.question ? reason : reasonWords(reason))}.</p>`}
    ${isOpen && !onDecide && html`<p class="approval-outcome">The owner answers this.</p>`}
    ${isOpen && onDecide && html`<${Answer} deciding=${deciding} onAnswer=${decide} power=${approval.question || !mayAllow ? undefined : approval.power} noteFor=${approval.question ? 'Answer to the server, where it wants more than a yes' : 'Note to the agent (optional)'} />`}
    ${!isOpen && html`<${Outcome} approval=${approval} />`}
  </article>`
}

const TITLES: Record<Approval['status'], string> = {
  open: 'Open',
  approved: 'Approved',
  denied: 'Denied',
  expired: 'Nobody answered in time',
}
const ICONS: Record<Approval['status'], string> = {
  open: 'hand',
  approved: 'check',
  denied: 'cross',
  expired: 'clock',
}

function Arguments({ value }: { value: Record<string, unknown> }) {
  if (Object.keys(value).length === 0) return html`<p class="approval-none">Without arguments.</p>`
  return html`<pre class="approval-arguments" tabindex="0" role="region" aria-label="Arguments"><code>${escapeUnseen(JSON.stringify(value, null, 2))}</code></pre>`
}

/** Says whose words led to the call, and in which conversation. */
function Asked({ approval: { askedBy = [], conversation } }: { approval: Approval }) {
  if (askedBy.length === 0) return null
  return html`<p class="approval-reason">Asked by <b>${escapeUnseen(askedBy.join(', '))}</b>${conversation && html`, in ${conversation}`}.</p>`
}

function TimeLeft({ until }: { until: number }) {
  const now = useNow(until - Date.now() < HOUR ? 1_000 : 30_000)
  const words = until > now ? `${duration(until - now)} left` : 'its time is over'
  return html`<time class="approval-left" datetime=${new Date(until).toISOString()} title=${`Until ${fullTime(until)}`}>${words}</time>`
}

interface AnswerProps {
  deciding?: Decision
  onAnswer: (decision: Decision, note: string, always: string) => boolean
  noteFor: string
  /** Power of the work for which a yes may hold longer; undefined where it holds for this call alone. */
  power?: Power
}

function Answer({ deciding, onAnswer, noteFor, power }: AnswerProps) {
  const [note, setNote] = useState('')
  const [always, setAlways] = useState('')
  const [isOffline, setOffline] = useState(false)
  const answer = (decision: Decision) => {
    if (!deciding) setOffline(!onAnswer(decision, note, always))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter in the note does not approve.
    if (event.key === 'Enter') event.preventDefault()
  }
  const idle = deciding ? 'true' : 'false'
  return html`<div class="approval-answer" role="group" aria-label="Your answer">
    <label class="approval-note">
      <span>${noteFor}</span>
      <input type="text" maxlength=${LONGEST_NOTE} value=${note} onKeyDown=${onKeyDown} onInput=${(event: Event) => setNote(typedIn(event))} />
    </label>
    ${
      power &&
      html`<label class="approval-always">
      <span>A yes holds</span>
      <select value=${always} onChange=${(event: Event) => setAlways(typedIn(event))}>
        <option value="">for this call alone</option>
        <option value="1h">for an hour, whenever ${WORK_WORDS[power]}</option>
        <option value="1d">for a day, whenever ${WORK_WORDS[power]}</option>
        <option value="30d">for 30 days, whenever ${WORK_WORDS[power]}</option>
      </select>
    </label>`
    }
    <div class="approval-buttons">
      <button type="button" class="deny" aria-disabled=${idle} onClick=${() => answer('deny')}><${Icon} name="cross" />${deciding === 'deny' ? 'Denying…' : 'Deny'}</button>
      <button type="button" class="approve" aria-disabled=${idle} onClick=${() => answer('approve')}><${Icon} name="check" />${deciding === 'approve' ? 'Approving…' : 'Approve'}</button>
    </div>
    ${isOffline && html`<p class="approval-offline" role="alert">There is no connection to the hub. Answer once it is back.</p>`}
  </div>`
}

function Outcome({ approval }: { approval: Approval }) {
  const { decidedBy, decidedWhere, decidedAt, note, status, question } = approval
  const came = status === 'approved' ? 'It runs once.' : 'It does not run.'
  const ran = question ? 'The server was told.' : came
  const when = decidedAt === undefined ? '' : dayAndTime(decidedAt, Date.now())
  return html`<div class="approval-outcome">
    <p>
      ${decidedBy !== undefined && html`By <b>${decidedBy}</b> ${whereWords(decidedWhere)}`}
      ${decidedAt !== undefined && html` <${Time} at=${decidedAt}>${when === clockTime(decidedAt) ? `at ${when}` : when}<//>`}${(decidedBy ?? decidedAt) !== undefined && '. '}${ran}
    </p>
    ${note && html`<p>Note: ${note}</p>`}
  </div>`
}

const PLACES: Record<string, string> = { '/ws': 'in the chat' }

/** Says which endpoint the answer came through. */
function whereWords(where: string | undefined) {
  if (where === undefined) return ''
  return PLACES[where] ?? `over ${where}`
}

interface ApprovalListProps {
  open: Approval[]
  decided: Approval[]
  deciding: Record<string, Decision>
  onDecide: Decide
}

/** Lists the open approvals of all conversations, and those that were answered since the page was opened. */
export function ApprovalList({ open, decided, deciding, onDecide }: ApprovalListProps) {
  const cards = [...open, ...decided]
  return html`<ul class=${classes('cards', open.length === 0 && 'cards-quiet')}>
    ${cards.map(
      one =>
        html`<li key=${one.id}><${ApprovalCard} approval=${one} deciding=${deciding[one.id]} onDecide=${onDecide} /></li>`,
    )}
  </ul>`
}
