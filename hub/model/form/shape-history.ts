import type { ModelMessage } from '../../core/model.ts'
import { isBlank } from '../../core/text.ts'
import { toArgumentsText } from '../wire/call-arguments.ts'
import { createCallIds } from './call-ids.ts'
import type { Form } from './form.ts'
import { placeImages } from './images.ts'
import { type AssistantMessage, change } from './messages.ts'
import { orderMessages } from './order-messages.ts'
import { pairResults } from './pair-results.ts'
import { tellCalls } from './tell-calls.ts'
import { toThinking } from './thinking.ts'
import { toSentName } from './tool-names.ts'

/**
 * Returns a history as one provider accepts it. It never changes its input. The beginning of its output does
 * not depend on later messages, so that the provider's prompt cache hits.
 */
export function shapeHistory(messages: readonly ModelMessage[], form: Form): ModelMessage[] {
  const { history } = form
  const paired = pairResults(messages, createCallIds(history.callIds))
  const placed = placeImages(paired, history.images)
  const own = placed.map(message => (message.role === 'assistant' ? toOwn(message, form) : message))
  const told = history.flat ? tellCalls(own) : own
  return orderMessages(told.flatMap(toFilled), history)
}

/** Gives calls names and arguments that every provider takes, and keeps only the thoughts that go back. */
function toOwn(message: AssistantMessage, form: Form): AssistantMessage {
  const calls = message.calls.map(call =>
    change(call, { name: toSentName(call.name), arguments: toArgumentsText(call.arguments.toWellFormed()) }),
  )
  const isSame = calls.every((call, at) => call === message.calls[at])
  const thinking = form.history.flat ? undefined : toThinking(message, form)
  return change(message, { calls: isSame ? message.calls : calls, thinking })
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
      return text === '' && !message.images?.length ? [] : [change(message, { text })]
    case 'assistant':
      if (message.calls.length === 0) return text === '' ? [] : [change(message, { text })]
      // The parts that go back may name positions in the text, so it keeps its length.
      return [change(message, { text: message.thinking?.parts === undefined ? text : whole })]
    case 'tool':
      return [change(message, { name: toSentName(message.name), text: text || '(no output)' })]
    default:
      return message satisfies never
  }
}
