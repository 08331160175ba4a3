import { useNow } from '../hooks.js'
import { classes, html, memo } from '../html.js'
import { clockTime, fullTime } from '../time.js'
import { CopyButton } from './copy-button.js'
import { Flower } from './flower.js'
import { Icon } from './icons.js'
import { MarkdownView } from './markdown-view.js'

/**
 * One durable message that is not a tool's.
 * @param {{message: import('../types.d.ts').Message, named: boolean, showPerson: boolean, isLast: boolean}} props
 */
export const MessageRow = memo(({ message, named, showPerson, isLast }) => {
  if (message.kind === 'notice') return html`<${Notice} message=${message} />`
  if (message.kind === 'error') return html`<${Failure} message=${message} isLast=${isLast} />`
  const isAgent = message.kind === 'agent'
  return html`<article class=${classes('message', `message-${message.kind}`, named && 'named')} aria-label=${`${message.author}, ${clockTime(message.at)}`}>
    ${isAgent && named && html`<p class="message-author"><${Flower} name=${message.author} status="active" />${message.author}</p>`}
    ${!isAgent && named && showPerson && html`<p class="message-author">${message.author}</p>`}
    ${isAgent ? html`<${MarkdownView} text=${message.text} />` : html`<p class="bubble" dir="auto">${message.text}</p>`}
    <div class="message-foot"><${Time} at=${message.at} /><${CopyButton} text=${message.text} label="Copy this message" /></div>
  </article>`
})

/** @param {{at: number}} props */
function Time({ at }) {
  return html`<time datetime=${new Date(at).toISOString()} title=${fullTime(at)}>${clockTime(at)}</time>`
}

/** @param {{message: import('../types.d.ts').Message}} props */
function Notice({ message }) {
  return html`<article class="note" aria-label="Notice">
    <${Icon} name="info" /><p dir="auto">${message.text}</p><${Time} at=${message.at} />
  </article>`
}

/** @param {{message: import('../types.d.ts').Message, isLast: boolean}} props */
function Failure({ message, isLast }) {
  const { attempt, of, retryAt, retryable } = message.data ?? {}
  return html`<article class="note note-error" aria-label="Error">
    <${Icon} name="alert" />
    <div>
      <p dir="auto">${message.text}</p>
      ${retryAt !== undefined && retryable !== false && html`<${Retry} attempt=${attempt} of=${of} retryAt=${retryAt} isLast=${isLast} />`}
      ${retryable === false && html`<p class="note-more">It will not be tried again by itself.</p>`}
    </div>
    <${Time} at=${message.at} />
  </article>`
}

/** Counts down while nothing came after it. @param {{attempt?: number, of?: number, retryAt: number, isLast: boolean}} props */
function Retry({ attempt, of, retryAt, isLast }) {
  const counts = isLast && retryAt > Date.now()
  const now = useNow(counts ? 1_000 : 0)
  const seconds = Math.ceil((retryAt - now) / 1_000)
  const which = attempt !== undefined && of !== undefined ? `Retry ${attempt} of ${of}` : 'Retry'
  if (isLast && seconds > 0) return html`<p class="note-more" aria-live="off">${which} in ${seconds} s</p>`
  return html`<p class="note-more">${which} at ${clockTime(retryAt)}</p>`
}

/**
 * What is on its way to the hub, or was refused by it.
 * @param {{pending: import('../types.d.ts').Pending, onRetry: () => void, onDiscard: () => void}} props
 */
export function PendingRow({ pending, onRetry, onDiscard }) {
  const isRefused = pending.refused !== undefined
  return html`<article class=${classes('message message-user named pending', isRefused && 'refused')} aria-label="You, not yet delivered">
    <p class="bubble" dir="auto">${pending.text}</p>
    <div class="message-foot">
      ${
        isRefused
          ? html`<span class="refusal">Not accepted: ${pending.refused}</span>
            <button type="button" class="quiet" onClick=${onRetry}>Send again</button>
            <button type="button" class="quiet" onClick=${onDiscard}>Discard</button>`
          : html`<span class="sending"><${Icon} name="clock" />Sending…</span>`
      }
    </div>
  </article>`
}
