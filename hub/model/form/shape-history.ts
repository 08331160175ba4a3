import type { ModelMessage } from '../../core/model.ts'
import { isBlank, quoteAfter } from '../../core/text.ts'
import { toArgumentsText } from '../wire/call-arguments.ts'
import type { Form } from './form.ts'
import { placeImages } from './images.ts'
import { type AssistantMessage, userMessage } from './messages.ts'
import { createCallIds, toSentName } from './names.ts'
import { orderMessages } from './order-messages.ts'
import { pairResults } from './pair-results.ts'
import { toThinking } from './thinking.ts'

/**
 * Returns a history as one provider accepts it. It never changes its input. The beginning of its output does
 * not depend on later messages, so that the provider's prompt cache hits.
 */
export function shapeHistory(messages: readonly ModelMessage[], form: Form): ModelMessage[] {
  const { history } = form
  const paired = pairResults(messages, createCallIds(history.callIds))
  const placed = placeImages(paired, history.images)
  const own = placed.map(message => (message.role === 'assistant' ? toOwn(message, form) : message))
  const told = history.flat ? notifyCalls(own) : own
  return orderMessages(told.flatMap(toFilled), history)
}

/** Gives calls names and arguments that every provider takes, and keeps only the thoughts that go back. */
function toOwn(message: AssistantMessage, form: Form): AssistantMessage {
  const calls = message.calls.map(call => ({
    ...call,
    name: toSentName(call.name),
    arguments: toArgumentsText(call.arguments.toWellFormed()),
  }))
  return { ...message, calls, thinking: form.history.flat ? undefined : toThinking(message, form) }
}

/**
 * Drops a message that says nothing, since Anthropic refuses an empty message anywhere in a history, and
 * replaces half characters, which are refused too.
 */
function toFilled(message: ModelMessage): ModelMessage[] {
  const whole = message.text.toWellFormed()
  const text = isBlank(whole) ? '' : whole
  switch (message.role) {
    case 'user':
      return text === '' && !message.images?.length ? [] : [{ ...message, text }]
    case 'assistant':
      if (message.calls.length === 0) return text === '' ? [] : [{ ...message, text }]
      // The parts that go back may name positions in the text, so it keeps its length.
      return [{ ...message, text: message.thinking?.parts === undefined ? text : whole }]
    case 'tool':
      return [{ ...message, name: toSentName(message.name), text: text || '(no output)' }]
    default:
      return message satisfies never
  }
}

/** Turns calls and results into text: the last form, for a provider that refuses every other. */
export function notifyCalls(messages: readonly ModelMessage[]): ModelMessage[] {
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
