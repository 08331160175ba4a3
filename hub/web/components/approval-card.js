/** @import { Approval, Decision } from '../types.d.ts' */
import { useRef, useState } from 'preact/hooks'
import { useNow } from '../hooks.js'
import { classes, html, typedIn } from '../html.js'
import { clockTime, dayAndTime, duration, fullTime } from '../time.js'
import { escapeUnseen } from '../unseen.js'
import { toolWords } from '../words.js'
import { Icon } from './icons.js'

/** Most characters of a note that the hub takes (schemas/chat.ts). */
const LONGEST_NOTE = 2_000
const HOUR = 3_600_000

/** @typedef {(id: string, decision: Decision, note: string) => boolean} Decide false: there is no link */

/**
 * Shows a call that needs a person's approval: exactly what will run, and the answer; once answered, also by
 * whom, when and where.
 * @param {{approval: Approval, deciding?: Decision, onDecide: Decide, id?: string}} props
 */
export function ApprovalCard({ approval, deciding, onDecide, id }) {
  const { agent, tool, status, reason } = approval
  const ref = useRef(/** @type {HTMLElement | null} */ (null))
  const isOpen = status === 'open'
  const decide = (/** @type {Decision} */ decision, /** @type {string} */ note) => {
    // The buttons go away, but the focus must stay.
    ref.current?.focus()
    return onDecide(approval.id, decision, note)
  }
  return html`<article class=${`approval approval-${status}`} id=${id} ref=${ref} tabindex="-1" aria-label=${`${isOpen ? 'Waits for your yes' : TITLES[status]}: ${toolWords(tool)}`}>
    <header class="approval-head">
      <${Icon} name=${ICONS[status]} />
      <span class="approval-title">${isOpen ? (approval.question ? `${agent} is asked something` : `${agent} asks for a yes`) : TITLES[status]}</span>
      ${isOpen && html`<${TimeLeft} until=${approval.expiresAt} />`}
    </header>
    <p class="approval-tool"><b>${toolWords(tool)}</b> <code>${tool}</code></p>
    <${Arguments} value=${approval.arguments} />
    ${isOpen && html`<p class="approval-reason">${approval.question ? 'The question' : 'Why it asks'}: ${escapeUnseen(reason)}.</p>`}
    ${isOpen ? html`<${Answer} deciding=${deciding} onAnswer=${decide} noteFor=${approval.question ? 'Answer to the server, where it wants more than a yes' : 'Note to the agent (optional)'} />` : html`<${Outcome} approval=${approval} />`}
  </article>`
}

/** @type {Record<Approval['status'], string>} */
const TITLES = { open: 'Open', approved: 'Approved', denied: 'Denied', expired: 'Nobody answered in time' }
/** @type {Record<Approval['status'], string>} */
const ICONS = { open: 'hand', approved: 'check', denied: 'cross', expired: 'clock' }

/** @param {{value: Record<string, unknown>}} props */
function Arguments({ value }) {
  if (Object.keys(value).length === 0) return html`<p class="approval-none">Without arguments.</p>`
  return html`<pre class="approval-arguments" tabindex="0" role="region" aria-label="Arguments"><code>${escapeUnseen(JSON.stringify(value, null, 2))}</code></pre>`
}

/** @param {{until: number}} props */
function TimeLeft({ until }) {
  const now = useNow(until - Date.now() < HOUR ? 1_000 : 30_000)
  const words = until > now ? `${duration(until - now)} left` : 'its time is over'
  return html`<time class="approval-left" datetime=${new Date(until).toISOString()} title=${`Until ${fullTime(until)}`}>${words}</time>`
}

/** @param {{deciding?: Decision, onAnswer: (decision: Decision, note: string) => boolean, noteFor: string}} props */
function Answer({ deciding, onAnswer, noteFor }) {
  const [note, setNote] = useState('')
  const [isOffline, setOffline] = useState(false)
  const answer = (/** @type {Decision} */ decision) => {
    if (!deciding) setOffline(!onAnswer(decision, note))
  }
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    // Enter in the note does not approve.
    if (event.key === 'Enter') event.preventDefault()
  }
  const idle = deciding ? 'true' : 'false'
  return html`<div class="approval-answer" role="group" aria-label="Your answer">
    <label class="approval-note">
      <span>${noteFor}</span>
      <input type="text" maxlength=${LONGEST_NOTE} value=${note} onKeyDown=${onKeyDown} onInput=${(/** @type {Event} */ event) => setNote(typedIn(event))} />
    </label>
    <button type="button" class="deny" aria-disabled=${idle} onClick=${() => answer('deny')}><${Icon} name="cross" />${deciding === 'deny' ? 'Denying…' : 'Deny'}</button>
    <button type="button" class="approve" aria-disabled=${idle} onClick=${() => answer('approve')}><${Icon} name="check" />${deciding === 'approve' ? 'Approving…' : 'Approve'}</button>
    ${isOffline && html`<p class="approval-offline" role="alert">There is no connection to the hub. Answer once it is back.</p>`}
  </div>`
}

/** @param {{approval: Approval}} props */
function Outcome({ approval }) {
  const { decidedBy, decidedWhere, decidedAt, note, status, question } = approval
  const came = status === 'approved' ? 'It runs exactly as shown.' : 'It does not run.'
  const ran = question ? 'The server was told.' : came
  const when = decidedAt === undefined ? '' : dayAndTime(decidedAt, Date.now())
  return html`<div class="approval-outcome">
    <p>
      ${decidedBy !== undefined && html`By <b>${decidedBy}</b> ${whereWords(decidedWhere)}`}
      ${decidedAt !== undefined && html` <time datetime=${new Date(decidedAt).toISOString()} title=${fullTime(decidedAt)}>${when === clockTime(decidedAt) ? `at ${when}` : when}</time>`}${(decidedBy ?? decidedAt) !== undefined && '. '}${ran}
    </p>
    ${note && html`<p>Note: ${note}</p>`}
  </div>`
}

/** @type {Record<string, string>} */
const PLACES = { '/ws': 'in the chat' }

/** Says which endpoint the answer came through. @param {string | undefined} where */
function whereWords(where) {
  if (where === undefined) return ''
  return PLACES[where] ?? `over ${where}`
}

/**
 * Lists the open approvals of all conversations, and those that were answered since the page was opened.
 * @param {{open: Approval[], decided: Approval[], deciding: Record<string, Decision>, onDecide: Decide}} props
 */
export function ApprovalList({ open, decided, deciding, onDecide }) {
  const cards = [...open, ...decided]
  return html`<ul class=${classes('cards', open.length === 0 && 'cards-quiet')}>
    ${cards.map(
      one =>
        html`<li key=${one.id}><${ApprovalCard} approval=${one} deciding=${deciding[one.id]} onDecide=${onDecide} /></li>`,
    )}
  </ul>`
}
