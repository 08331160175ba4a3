import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import type { MAX_TEXT } from '../../../schemas/chat.ts'
import type { FileEntry } from '../../../schemas/files.ts'
import type { Beside, Conversation } from '../conversation.ts'
import { classes, html, typedIn } from '../html.ts'
import { reasonOf } from '../mcp.ts'
import { chooseFiles, filesIn, toBeside } from '../pictures.ts'
import { Attachments } from './attachments.ts'
import { ComposerHint } from './composer-help.ts'
import { Icon } from './icons.ts'

/** Most characters of a text that the hub takes. */
const LONGEST: typeof MAX_TEXT = 100_000

/** Text that is sent with files that come without one. */
const WORDLESS = 'Look at this.'

/** Unsent text of each conversation, while the page is open. */
const drafts = new Map<string, string>()

/** Tells whether some conversation has a message that is not sent yet. */
export function hasDrafts() {
  return [...drafts.values()].some(draft => draft !== '')
}

interface ComposerProps {
  inputRef: RefObject<HTMLTextAreaElement | null>
  conversation: Conversation
  agent: string
  /** Text of an earlier message that is to be edited. */
  edited: { text: string } | null
  onSend: (text: string, beside?: Beside) => void
  /** Sends a file to the hub, for the message; null for people who may send pictures alone. */
  onUpload: ((file: File) => Promise<FileEntry>) | null
  /** Null while no agent works. */
  onStop: (() => boolean) | null
}

/**
 * The message box. Enter sends, Shift+Enter breaks the line, ArrowUp in the empty box brings the last message
 * back; Escape stops an active agent.
 */
export function Composer({ inputRef, conversation, agent, edited, onSend, onUpload, onStop }: ComposerProps) {
  const [text, write] = useDraft(conversation.id)
  const isTooLong = text.length > LONGEST
  const [files, setFiles] = useState<File[]>([])
  const [problem, setProblem] = useState('')
  const [isSending, setSending] = useState(false)
  const canSend = (text.trim() !== '' || files.length > 0) && !isTooLong && !isSending

  function submit(event: Event) {
    event.preventDefault()
    if (!canSend) return
    void sendWith(files)
    write('')
    attach([])
    inputRef.current?.focus()
  }

  /** Sends the message; without files it does so at once. */
  async function sendWith(chosen: File[]) {
    const words = text.trim() || WORDLESS
    if (chosen.length === 0) return onSend(words)
    setSending(true)
    try {
      onSend(words, await toBeside(chosen, onUpload))
    } catch (error) {
      write(text)
      setFiles(chosen)
      setProblem(`Nothing was sent: ${reasonOf(error)}`)
    } finally {
      setSending(false)
    }
  }

  function attach(chosen: File[]) {
    const { kept, why } = chooseFiles(chosen, onUpload !== null)
    setProblem(why)
    setFiles(kept)
  }

  function take(event: Event, data: DataTransfer | null) {
    const found = filesIn(data)
    if (found.length === 0) return
    event.preventDefault()
    attach([...files, ...found])
  }

  function onKeyDown(event: KeyboardEvent) {
    // Safari ends a composition before its Enter arrives, with the key code 229.
    if (event.isComposing || event.keyCode === 229) return
    if (event.key === 'Enter' && !event.shiftKey) submit(event)
    if (event.key === 'ArrowUp' && text === '') recall(event)
    if (event.key === 'Escape' && onStop) stop(event)
  }

  /** Stops the agent; the panel stays open. */
  function stop(event: Event) {
    event.preventDefault()
    onStop?.()
  }

  function pick(command: string) {
    write(command)
    inputRef.current?.focus()
  }

  function recall(event: KeyboardEvent) {
    const last = lastWritten(conversation)
    if (last === undefined) return
    event.preventDefault()
    write(last)
  }

  useEffect(() => {
    if (!edited) return
    write(text.trim() === '' ? edited.text : `${text}\n${edited.text}`)
    inputRef.current?.focus()
  }, [edited])
  useLayoutEffect(() => fitHeight(inputRef.current), [text])

  return html`<form class=${classes('composer', onStop && 'composer-busy')} onSubmit=${submit}
    onPaste=${(event: ClipboardEvent) => take(event, event.clipboardData)} onDrop=${(event: DragEvent) => take(event, event.dataTransfer)}>
    <label class="visually-hidden" for="composer">Message to ${agent}</label>
    <textarea id="composer" ref=${inputRef} rows="1" enterkeyhint="send" placeholder=${`Message ${agent}`}
      value=${text} aria-describedby="composer-hint" dir="auto"
      onInput=${(event: Event) => write(typedIn(event))} onKeyDown=${onKeyDown}></textarea>
    <${Attachments} files=${files} onChange=${attach} accept=${onUpload ? undefined : 'image/*'} />
    ${isSending && html`<p class="composer-problem sending" role="status">Sending the files…</p>`}
    ${problem && html`<p class="composer-problem" role="alert">${problem}</p>`}
    ${onStop && html`<${StopButton} key=${conversation.id} agent=${agent} onStop=${onStop} />`}
    <button type="submit" class="send" aria-label="Send" aria-disabled=${canSend ? 'false' : 'true'}><${Icon} name="send" /></button>
    <${ComposerHint} text=${text} isTooLong=${isTooLong} isBusy=${onStop !== null} onPick=${pick} />
  </form>`
}

/** Returns a draft and its setter. */
function useDraft(id: string): [string, (next: string) => void] {
  const [text, setText] = useState(drafts.get(id) ?? '')
  const write = (next: string) => {
    drafts.set(id, next)
    setText(next)
  }
  return [text, write]
}

/** A button that is shown while an agent is active. */
function StopButton({ agent, onStop }: { agent: string; onStop: () => boolean }) {
  return html`<button type="button" class="stop" aria-label=${`Stop ${agent}`} title="Stop (Esc)" onClick=${onStop}><${Icon} name="stop" /></button>`
}

function lastWritten({ pending, messages }: Conversation) {
  const waiting = pending[pending.length - 1]
  return (waiting ?? messages.findLast(message => message.kind === 'user'))?.text
}

/** Makes it as high as its text, as far as styles allow. */
function fitHeight(area: HTMLTextAreaElement | null) {
  if (!area) return
  area.style.height = 'auto'
  area.style.height = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`
}
