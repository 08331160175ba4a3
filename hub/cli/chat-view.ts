import { clearScreenDown, cursorTo, type Interface } from 'node:readline'
import type { Approval, ChatMessage, HubFrame } from '../../schemas/chat.ts'
import { markOutside, stripUnseen } from '../core/text.ts'
import { describeApproval } from '../mcp/hub-tools/approvals.ts'

export interface ChatView {
  note(text: string): void
  showApproval(approval: Approval): void
  onFrame(frame: HubFrame): void
}

/**
 * Creates a view that prints a conversation's frames above the line that the person types: streamed text as it
 * comes, the rest when it is complete. `isOwn` tells whether a message was typed here, where it stands already.
 */
export function createChatView(
  conversation: string,
  input: Interface,
  isOwn: (message: ChatMessage) => boolean,
): ChatView {
  const { stdout } = process
  let streaming = ''
  /** Takes the person's line off the screen; `prompt` shows it again. */
  const clear = () => {
    if (!stdout.isTTY) return
    cursorTo(stdout, 0)
    clearScreenDown(stdout)
  }
  const line = (text: string) => {
    if (streaming === '') clear()
    else stdout.write('\n')
    streaming = ''
    if (text !== '') stdout.write(`${stripUnseen(text)}\n`)
    input.prompt(true)
  }
  const stream = (text: string) => {
    if (streaming === '') clear()
    stdout.write(stripUnseen(text))
    streaming += text
  }
  const show = (message: ChatMessage) => {
    if (isOwn(message)) return
    if (message.kind === 'tool') return line(`  · ${message.author}: ${message.text}`)
    const shown = streaming.trim()
    const from = markOutside(message.data)
    const mark = message.kind === 'agent' || message.kind === 'user' ? from : `[${message.kind}] `
    if (shown === '' || message.kind !== 'agent' || !message.text.startsWith(shown))
      return line(`${message.author}: ${mark}${message.text}`)
    stdout.write(stripUnseen(message.text.slice(shown.length)))
    line('')
  }
  const showApproval = (approval: Approval) => {
    const { number, status } = approval
    const answer = status === 'open' ? `\n  approve ${number} or deny ${number} [note]` : ''
    line(`[approval] ${describeApproval(approval)}${answer}`)
  }
  return {
    note: text => line(`(${text})`),
    showApproval,
    onFrame(frame) {
      if (frame.type === 'error') line(`[error] ${frame.message}`)
      if (frame.type === 'approval' && frame.approval.conversation === conversation)
        showApproval(frame.approval)
      if (frame.type === 'message' && frame.message.conversation === conversation) show(frame.message)
      if (frame.type === 'delta' && frame.conversation === conversation) stream(frame.text)
      if (frame.type === 'tool' && frame.call.status === 'started' && frame.call.summary)
        line(`  · ${frame.call.tool}: ${frame.call.summary}`)
    },
  }
}
