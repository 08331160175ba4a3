import type { Message } from './conversation.ts'
import { dayKey } from './time.ts'

/** Milliseconds within which messages of one author share one name. */
const TOGETHER = 5 * 60_000

export type Row =
  | { type: 'day'; key: string; at: number }
  | { type: 'tools'; key: string; messages: Message[] }
  | { type: 'approval'; key: string; message: Message; approval: string }
  | { type: 'message'; key: string; message: Message; named: boolean }

/**
 * Returns the rows of the log: a mark per day, adjacent tool calls as one group, each call with an approval
 * by itself, and for each message whether its author has to be named.
 */
export function toRows(messages: Message[]) {
  const rows: Row[] = []
  let last: Message | null = null
  for (const message of messages) {
    const newDay = !last || dayKey(last.at) !== dayKey(message.at)
    if (newDay) rows.push({ type: 'day', key: `day-${dayKey(message.at)}`, at: message.at })
    const previous = rows[rows.length - 1]
    const asked = askedFor(message)
    if (asked) rows.push({ type: 'approval', key: `a${message.seq}`, message, approval: asked })
    else if (message.kind === 'tool' && previous?.type === 'tools') previous.messages.push(message)
    else if (message.kind === 'tool')
      rows.push({ type: 'tools', key: `t${message.seq}`, messages: [message] })
    else
      rows.push({
        type: 'message',
        key: `m${message.seq}`,
        message,
        named: newDay || !continues(last, message),
      })
    last = message
  }
  return rows
}

/** Returns the approval that a call requested. */
function askedFor({ kind, data }: Message) {
  return kind === 'tool' && data?.status === 'waiting' ? data.approval : undefined
}

function continues(last: Message | null, message: Message) {
  return (
    last !== null &&
    last.kind === message.kind &&
    last.author === message.author &&
    // A message about an event or a reminder is no part of the answer before it.
    last.data?.cycle === message.data?.cycle &&
    message.at - last.at < TOGETHER
  )
}

/** Tells whether somebody else than the reader wrote: then each person is named. */
export function hasOthers(messages: Message[], reader: string | null) {
  return messages.some(({ kind, author }) => kind === 'user' && author !== reader)
}
