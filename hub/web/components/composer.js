import { useLayoutEffect, useState } from 'preact/hooks'
import { html } from '../html.js'
import { Icon } from './icons.js'

/** The longest text the hub takes, in characters (schemas/chat.ts). */
const LONGEST = 100_000

/** What was begun in each conversation, while the page is open. @type {Map<string, string>} */
const drafts = new Map()

/**
 * The message box. Enter sends, Shift+Enter breaks the line, ArrowUp in the empty box brings the last message back.
 * @param {{inputRef: {current: HTMLTextAreaElement | null}, conversation: any, agent: string, onSend: (text: string) => void}} props
 */
export function Composer({ inputRef, conversation, agent, onSend }) {
  const [text, setText] = useState(drafts.get(conversation.id) ?? '')
  const isTooLong = text.length > LONGEST
  const canSend = text.trim() !== '' && !isTooLong

  /** @param {string} next */
  function write(next) {
    drafts.set(conversation.id, next)
    setText(next)
  }

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault()
    if (!canSend) return
    onSend(text.trim())
    write('')
    inputRef.current?.focus()
  }

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    // 229: Safari ends a composition before the Enter that ended it arrives.
    if (event.isComposing || event.keyCode === 229) return
    if (event.key === 'Enter' && !event.shiftKey) submit(event)
    if (event.key === 'ArrowUp' && text === '') recall(event)
  }

  /** @param {KeyboardEvent} event */
  function recall(event) {
    const last = lastWritten(conversation)
    if (last === undefined) return
    event.preventDefault()
    write(last)
  }

  useLayoutEffect(() => fitHeight(inputRef.current), [text])

  return html`<form class="composer" onSubmit=${submit}>
    <label class="visually-hidden" for="composer">Message to ${agent}</label>
    <textarea id="composer" ref=${inputRef} rows="1" enterkeyhint="send" placeholder=${`Message ${agent}`}
      value=${text} aria-describedby="composer-hint" dir="auto"
      onInput=${(/** @type {any} */ event) => write(event.target.value)} onKeyDown=${onKeyDown}></textarea>
    <button type="submit" class="send" aria-label="Send" aria-disabled=${canSend ? 'false' : 'true'}><${Icon} name="send" /></button>
    <p id="composer-hint" class=${isTooLong ? 'hint hint-bad' : 'hint'}>
      ${isTooLong ? 'This is longer than one message can be.' : html`<kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> begins a new line, <kbd>/</kbd> jumps here`}
    </p>
  </form>`
}

/** @param {any} conversation @returns {string | undefined} */
function lastWritten({ pending, messages }) {
  const waiting = pending[pending.length - 1]
  return (waiting ?? messages.findLast((/** @type {any} */ message) => message.kind === 'user'))?.text
}

/** As high as its text, up to what the style allows. @param {HTMLTextAreaElement | null} area */
function fitHeight(area) {
  if (!area) return
  area.style.height = 'auto'
  area.style.height = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`
}
