import { useState } from 'preact/hooks'
import type { Message, Pending } from '../conversation.ts'
import type { Files } from '../files.ts'
import { useNow } from '../hooks.ts'
import { classes, html, memo } from '../html.ts'
import { reasonOf } from '../mcp.ts'
import type { Session } from '../session.ts'
import { clockTime, duration } from '../time.ts'
import { useAction } from '../use-tool.ts'
import { ActButton } from './ask-again.ts'
import { Pictures, SentFiles } from './beside.ts'
import { CopyButton } from './copy-button.ts'
import { Flower } from './flower.ts'
import { Icon } from './icons.ts'
import { MarkdownView } from './markdown-view.ts'
import { Time } from './time.ts'

interface MessageRowProps {
  message: Message
  named: boolean
  /** Whether the reader wrote it. */
  isOwn: boolean
  showPerson: boolean
  isLast: boolean
  /** Null for people who may not see records. */
  records: Session['conversations'] | null
  /** Saves a file of a message. */
  onSave: Files['save']
  /** Puts the text into the message box. */
  onEdit: (text: string) => void
  /** Shows the dead letter that a failure became. */
  onLetter: (id: string) => void
}

/** Shows one durable message that is not a tool's. */
export const MessageRow = memo((props: MessageRowProps) => {
  const { message, named, isOwn, showPerson, isLast, records, onSave, onEdit, onLetter } = props
  if (message.kind === 'notice') return html`<${Notice} message=${message} isOwner=${records !== null} />`
  if (message.kind === 'error')
    return html`<${Failure} message=${message} isLast=${isLast} records=${records} onLetter=${onLetter} />`
  const isAgent = message.kind === 'agent'
  const cycle = isAgent ? message.data?.cycle : undefined
  return html`<article class=${classes('message', `message-${message.kind}`, named && 'named', !isAgent && !isOwn && 'of-others')} aria-label=${`${message.author}, ${clockTime(message.at)}`}>
    ${isAgent && named && html`<p class="message-author"><${Flower} name=${message.author} status="active" />${message.author}</p>`}
    ${!isAgent && named && showPerson && html`<p class="message-author">${message.author}</p>`}
    ${isAgent ? html`<${Said} message=${message} />` : html`<p class="bubble" dir="auto">${message.text}</p><${Pictures} images=${message.data?.images} /><${SentFiles} files=${message.data?.files} onSave=${onSave} />`}
    <div class="message-foot"><${Time} at=${message.at} /><${CopyButton} text=${message.text} label="Copy this message" />
      ${!isAgent && isOwn && html`<button type="button" class="quiet copy" aria-label="Edit and ask again" title="Edit and ask again" onClick=${() => onEdit(message.text)}><${Icon} name="edit" /></button>`}
      ${cycle && records && html`<${Cost} cycle=${cycle} read=${records.readCost} />`}
    </div>
  </article>`
})

/** Says on demand what the work behind a reply used. */
function Cost({ cycle, read }: { cycle: string; read: (cycle: string) => Promise<string> }) {
  const [words, setWords] = useState('')
  const show = () => read(cycle).catch(reasonOf).then(setWords)
  return html`<button type="button" class="quiet copy" aria-label="Cost and tokens of this reply" title="Cost and tokens of this reply" onClick=${show}><${Icon} name="info" /></button>
    <span role="status">${words}</span>`
}

/** Shows what an agent said. Where a text from outside led to it, no link of it can be clicked. */
function Said({ message: { text, data } }: { message: Message }) {
  if (data?.power !== 'foreign') return html`<${MarkdownView} text=${text} />`
  return html`<p class="note-more"><${Icon} name="alert" /> ${OUTSIDE}</p><p class="from-outside" dir="auto">${text}</p>`
}

const OUTSIDE = 'A text from outside led to this: check it before you do what it says.'

function Notice({ message, isOwner }: { message: Message; isOwner: boolean }) {
  const isRule = isOwner && message.data?.allowedUntil !== undefined
  return html`<article class="note" aria-label="Notice">
    <${Icon} name="info" /><p dir="auto">${message.text}${isRule && html` <a href="./#p=settings/rules">Open Settings, Rules</a>`}</p><${Time} at=${message.at} />
  </article>`
}

type FailureProps = Pick<MessageRowProps, 'message' | 'isLast' | 'records' | 'onLetter'>

function Failure({ message, isLast, records, onLetter }: FailureProps) {
  const { attempt, of, retryAt, retryable, parked, deadLetter } = message.data ?? {}
  return html`<article class="note note-error" aria-label="Error">
    <${Icon} name="alert" />
    <div>
      <p dir="auto">${message.text}</p>
      ${retryAt !== undefined && retryable !== false && html`<${Retry} which=${parked ? '' : attemptWords(attempt, of)} retryAt=${retryAt} isLast=${isLast} isParked=${parked === true} />`}
      ${parked && isLast && records && html`<div class="note-acts"><${ActButton} label="Try now" busy="Asking…" name="Try now: ask the model again" onClick=${records.retryModel} /></div>`}
      ${retryable === false && html`<p class="note-more">It will not be tried again by itself.</p>`}
      ${deadLetter && (records ? html`<${LetterActs} id=${deadLetter} records=${records} onLetter=${onLetter} />` : html`<p class="note-more">The owner of the hub can have it tried again.</p>`)}
    </div>
    <${Time} at=${message.at} />
  </article>`
}

type LetterActsProps = { id: string; records: Session['conversations']; onLetter: (id: string) => void }

/** Has a failure's work tried again, or shows it in the panel, where it can be discarded too. */
function LetterActs({ id, records, onLetter }: LetterActsProps) {
  const { isBusy, error, start } = useAction()
  const [isRetried, setRetried] = useState(false)
  const retry = async () => setRetried(await start(() => records.retryLetter(id)))
  if (isRetried) return html`<p class="note-more" role="status">It is tried again.</p>`
  return html`<div class="note-acts">
    <button type="button" class="quiet" aria-disabled=${isBusy ? 'true' : 'false'} onClick=${retry}>Retry</button>
    <button type="button" class="quiet" onClick=${() => onLetter(id)}>Show what failed</button>
    ${error && html`<p class="panel-error" role="alert">${error}</p>`}
  </div>`
}

function attemptWords(attempt: number | undefined, of: number | undefined) {
  return attempt === undefined || of === undefined ? '' : `Attempt ${attempt} of ${of} failed. `
}

type RetryProps = { which: string; retryAt: number; isLast: boolean; isParked: boolean }

/** Shows the next try, with a countdown while no message comes after it. */
function Retry({ which, retryAt, isLast, isParked }: RetryProps) {
  const counts = isLast && retryAt > Date.now()
  const now = useNow(counts ? 1_000 : 0)
  const seconds = Math.ceil((retryAt - now) / 1_000)
  if (isLast && seconds > 0)
    return html`<p class="note-more" aria-live="off">${which}The next try is in ${spanWords(seconds)}.</p>`
  // Later tries have other times, which the panel shows.
  if (isParked) return null
  return html`<p class="note-more">${which}The next try ${seconds > 0 ? 'is' : 'was'} at ${clockTime(retryAt)}.</p>`
}

function spanWords(seconds: number) {
  return seconds < 120 ? `${seconds} s` : duration(seconds * 1_000)
}

type PendingRowProps = { pending: Pending; onRetry: () => void; onDiscard: () => void }

/** Shows a message that is on its way to the hub, or was refused by it. */
export function PendingRow({ pending, onRetry, onDiscard }: PendingRowProps) {
  const isRefused = pending.refused !== undefined
  return html`<article class=${classes('message message-user named pending', isRefused && 'refused')} aria-label="You, not yet delivered">
    <p class="bubble" dir="auto">${pending.text}</p>
    ${pending.files && html`<p class="sent-files">${pending.files.map(({ name }) => name).join(', ')}</p>`}
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
