/** @import { Conversation, Picture, Ref } from '../types.d.ts' */
import { useLayoutEffect, useState } from 'preact/hooks'
import { classes, html, typedIn } from '../html.js'
import { MOST_PICTURES, picturesIn, toPictures } from '../pictures.js'
import { Attachments } from './attachments.js'
import { ComposerHint } from './composer-help.js'
import { Icon } from './icons.js'

/** Most characters of a text that the hub takes (schemas/chat.ts). */
const LONGEST = 100_000

/** Text that is sent with a picture that has none. */
const WORDLESS = 'Look at this picture.'

/** Unsent text of each conversation, while the page is open. @type {Map<string, string>} */
const drafts = new Map()

/**
 * The message box. Enter sends, Shift+Enter breaks the line, ArrowUp in the empty box brings the last message
 * back; Escape stops an active agent.
 * @param {{inputRef: Ref<HTMLTextAreaElement>, conversation: Conversation, agent: string, onSend: (text: string, images?: Picture[]) => void, onStop: (() => boolean) | null}} props onStop: null while no agent works
 */
export function Composer({ inputRef, conversation, agent, onSend, onStop }) {
  const [text, write] = useDraft(conversation.id)
  const isTooLong = text.length > LONGEST
  const [files, setFiles] = useState(/** @type {File[]} */ ([]))
  const [problem, setProblem] = useState('')
  const canSend = (text.trim() !== '' || files.length > 0) && !isTooLong

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault()
    if (!canSend) return
    void sendWith(files)
    write('')
    attach([])
    inputRef.current?.focus()
  }

  /** Sends the message; without pictures it does so at once. @param {File[]} chosen */
  async function sendWith(chosen) {
    const words = text.trim() || WORDLESS
    if (chosen.length === 0) return onSend(words)
    try {
      onSend(words, await toPictures(chosen))
    } catch {
      write(text)
      setProblem('A picture could not be read, so nothing was sent. Try it as a PNG or JPEG.')
    }
  }

  /** @param {File[]} chosen */
  function attach(chosen) {
    setProblem('')
    setFiles(chosen.slice(0, MOST_PICTURES))
  }

  /** @param {Event} event @param {DataTransfer | null} data */
  function take(event, data) {
    const found = picturesIn(data)
    if (found.length === 0) return
    event.preventDefault()
    attach([...files, ...found])
  }

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    // Safari ends a composition before its Enter arrives, with the key code 229.
    if (event.isComposing || event.keyCode === 229) return
    if (event.key === 'Enter' && !event.shiftKey) submit(event)
    if (event.key === 'ArrowUp' && text === '') recall(event)
    if (event.key === 'Escape' && onStop) stop(event)
  }

  /** Stops the agent; the panel stays open. @param {Event} event */
  function stop(event) {
    event.preventDefault()
    onStop?.()
  }

  /** @param {string} command */
  function pick(command) {
    write(command)
    inputRef.current?.focus()
  }

  /** @param {KeyboardEvent} event */
  function recall(event) {
    const last = lastWritten(conversation)
    if (last === undefined) return
    event.preventDefault()
    write(last)
  }

  useLayoutEffect(() => fitHeight(inputRef.current), [text])

  return html`<form class=${classes('composer', onStop && 'composer-busy')} onSubmit=${submit}
    onPaste=${(/** @type {ClipboardEvent} */ event) => take(event, event.clipboardData)} onDrop=${(/** @type {DragEvent} */ event) => take(event, event.dataTransfer)}>
    <label class="visually-hidden" for="composer">Message to ${agent}</label>
    <textarea id="composer" ref=${inputRef} rows="1" enterkeyhint="send" placeholder=${`Message ${agent}`}
      value=${text} aria-describedby="composer-hint" dir="auto"
      onInput=${(/** @type {Event} */ event) => write(typedIn(event))} onKeyDown=${onKeyDown}></textarea>
    <${Attachments} files=${files} onChange=${attach} />
    ${problem && html`<p class="composer-problem" role="alert">${problem}</p>`}
    ${onStop && html`<${StopButton} key=${conversation.id} agent=${agent} onStop=${onStop} />`}
    <button type="submit" class="send" aria-label="Send" aria-disabled=${canSend ? 'false' : 'true'}><${Icon} name="send" /></button>
    <${ComposerHint} text=${text} isTooLong=${isTooLong} isBusy=${onStop !== null} onPick=${pick} />
  </form>`
}

/** Returns a draft and its setter. @param {string} id @returns {[string, (next: string) => void]} */
function useDraft(id) {
  const [text, setText] = useState(drafts.get(id) ?? '')
  const write = (/** @type {string} */ next) => {
    drafts.set(id, next)
    setText(next)
  }
  return [text, write]
}

/** A button that is shown while an agent is active. @param {{agent: string, onStop: () => boolean}} props */
function StopButton({ agent, onStop }) {
  return html`<button type="button" class="stop" aria-label=${`Stop ${agent}`} title="Stop (Esc)" onClick=${onStop}><${Icon} name="stop" /></button>`
}

/** @param {Conversation} conversation */
function lastWritten({ pending, messages }) {
  const waiting = pending[pending.length - 1]
  return (waiting ?? messages.findLast(message => message.kind === 'user'))?.text
}

/** Makes it as high as its text, as far as styles allow. @param {HTMLTextAreaElement | null} area */
function fitHeight(area) {
  if (!area) return
  area.style.height = 'auto'
  area.style.height = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`
}
