import type { ModelMessage } from '../../core/model.ts'
import type { HistoryForm } from './form.ts'
import { userMessage } from './messages.ts'

const BRIDGE: ModelMessage = { role: 'assistant', text: 'I have the results.', calls: [] }
const START = userMessage('(What came before is not shown.)')
const END = userMessage('(Go on.)')

/**
 * Returns the messages with roles in the order that the provider needs. When a history grows, only the end
 * changes: a new message may join the last user's. The result never ends with an assistant's message, since
 * Anthropic, Gemini and Mistral refuse to go on in one.
 */
export function orderMessages(messages: readonly ModelMessage[], form: HistoryForm): ModelMessage[] {
  const ordered: ModelMessage[] = []
  if (form.startsWithUser && messages[0]?.role !== 'user') ordered.push(START)
  for (const message of messages) {
    const before = ordered.at(-1)
    const joined = before && isMerged(message, form) ? join(before, message) : undefined
    if (joined) ordered.splice(-1, 1, joined)
    else if (form.bridge && before?.role === 'tool' && message.role === 'user') ordered.push(BRIDGE, message)
    else ordered.push(message)
  }
  const last = ordered.at(-1)
  if (!last || last.role === 'assistant') ordered.push(END)
  return ordered
}

function isMerged({ role }: ModelMessage, { merge }: HistoryForm): boolean {
  return role !== 'tool' && merge.includes(role)
}

/** Joins two messages; undefined for two roles, or where the first is an assistant's with calls. */
function join(before: ModelMessage, message: ModelMessage): ModelMessage | undefined {
  const text = [before.text, message.text].filter(part => part !== '').join('\n\n')
  if (before.role === 'user' && message.role === 'user') {
    return userMessage(text, [...(before.images ?? []), ...(message.images ?? [])])
  }
  if (before.role === 'assistant' && message.role === 'assistant' && before.calls.length === 0) {
    return { ...message, text, thinking: message.thinking ?? before.thinking }
  }
  return undefined
}
