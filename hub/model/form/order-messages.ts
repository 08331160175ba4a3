import type { ModelMessage } from '../../core/model.ts'
import type { HistoryForm } from './form.ts'
import { userMessage } from './messages.ts'

const BRIDGE: ModelMessage = { role: 'assistant', text: 'I have the results.', calls: [] }
const START = userMessage('(What came before is not shown.)')
const END = userMessage('(Go on.)')

/**
 * Roles in the order that the provider wants. Only the end changes when a history grows: a message of the user may still
 * be joined. No provider is asked to go on in the middle of an assistant's message: Anthropic, Gemini and Mistral refuse it.
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

/** Both as one; undefined for those of two roles. An assistant's message with calls is never the first of two. */
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
