import { clearScreenDown, cursorTo, type Interface, moveCursor } from 'node:readline'
import type { Approval, ChatMessage, HubFrame } from '../../schemas/chat.ts'
import { markOutside, stripUnseen } from '../core/text.ts'
import { describeApproval } from '../mcp/hub-tools/approvals.ts'
import { heightOf, toRows } from './rows.ts'

export interface ChatView {
  print(text: string): void
  note(text: string): void
  showApproval(approval: Approval): void
  onFrame(frame: HubFrame): void
  /** Is told that the person's line has ended: what stands above it stays. */
  onEntry(): void
}

/** Columns of a terminal that does not tell them. */
const COLUMNS = 80

/**
 * Creates a view that prints a conversation's frames above the line that the person types: streamed text as it
 * comes, the rest when it is complete. `isWorking` tells whether an agent of the conversation works.
 */
export function createChatView(
  conversation: string,
  input: Interface,
  isWorking: () => boolean,
  stdout: NodeJS.WriteStream = process.stdout,
): ChatView {
  /** The last row of the streamed text, right above the person's line, and the whole text. */
  let live = ''
  let streamed = ''
  /** True while a reply is written whose beginning was sent before this connection. */
  let isLate = false
  const columns = () => (stdout.columns || COLUMNS) - 1

  /** Writes whole rows above `next`, which replaces the live row, and above the person's line. */
  const draw = (rows: readonly string[], next = live) => {
    const text = rows.map(row => `${row}\n`).join('')
    if (!stdout.isTTY) return void stdout.write(text)
    const { rows: typed } = input.getCursorPos()
    moveCursor(stdout, 0, -(typed + heightOf(live, columns() + 1)))
    cursorTo(stdout, 0)
    clearScreenDown(stdout)
    live = next
    // The prompt moves up over the rows of a long line before it writes them again.
    stdout.write(`${text}${live === '' ? '' : `${live}\n`}${'\n'.repeat(typed)}`)
    input.prompt(true)
  }
  const line = (text: string) => draw(toRows(stripUnseen(text), columns()))
  const stream = (text: string) => {
    if (!stdout.isTTY || text === '') return
    streamed += text
    const rows = toRows(live + stripUnseen(text), columns())
    const next = rows.pop()
    draw(rows, next)
  }
  /** Leaves the live row where it stands. */
  const endStream = () => {
    live = ''
    streamed = ''
  }
  const show = (message: ChatMessage) => {
    if (message.kind === 'tool') {
      endStream()
      return line(`  · ${message.author}: ${message.text}`)
    }
    const begun = streamed.trimStart()
    const shown = message.text.startsWith(begun) ? begun : begun.trimEnd()
    if (message.kind === 'agent' && shown !== '' && message.text.startsWith(shown)) {
      stream(message.text.slice(shown.length))
      return endStream()
    }
    if (message.kind === 'agent') endStream()
    const isSaid = message.kind === 'agent' || message.kind === 'user'
    line(`${message.author}: ${isSaid ? markOutside(message.data) : `[${message.kind}] `}${message.text}`)
  }
  const showApproval = (approval: Approval) => {
    const { number, status } = approval
    const answer = status === 'open' ? `\n  approve ${number} or deny ${number} [note]` : ''
    line(`[approval] ${describeApproval(approval)}${answer}`)
  }
  return {
    print: line,
    note: text => line(`(${text})`),
    showApproval,
    onEntry() {
      live = ''
    },
    onFrame(frame) {
      if (frame.type === 'welcome') {
        endStream()
        isLate = isWorking()
      }
      if (frame.type === 'agent' && !isWorking()) isLate = false
      if (frame.type === 'error') line(`[error] ${frame.message}`)
      if (frame.type === 'approval' && frame.approval.conversation === conversation)
        showApproval(frame.approval)
      if (frame.type === 'message' && frame.message.conversation === conversation) show(frame.message)
      if (frame.type === 'delta' && frame.conversation === conversation && !isLate) stream(frame.text)
      if (frame.type === 'tool' && frame.call.status === 'started' && frame.call.summary) {
        endStream()
        line(`  · ${frame.call.tool}: ${frame.call.summary}`)
      }
    },
  }
}
