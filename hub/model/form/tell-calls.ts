import type { ModelMessage } from '../../core/model.ts'
import { quoteAfter } from '../../core/text.ts'
import { userMessage } from './messages.ts'

/** Turns calls and results into text: the last form, for a provider that refuses every other. */
export function tellCalls(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.map(message => {
    if (message.role === 'tool') {
      const what = message.isError ? 'The error of' : 'The result of'
      return userMessage(quoteAfter(`${what} ${message.name}:`, message.text), message.images)
    }
    if (message.role === 'user' || message.calls.length === 0) return message
    const told = message.calls.map(({ name, arguments: given }) => `(I called ${name} with ${given})`)
    return { role: 'assistant', text: [message.text, ...told].join('\n').trimStart(), calls: [] }
  })
}
