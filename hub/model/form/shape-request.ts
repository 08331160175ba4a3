import { isObject } from '../../core/forwarding.ts'
import { parseJson } from '../../core/json.ts'
import type { AssistantMessage, ModelMessage, ModelRequest, ToolMessage } from '../../core/model.ts'
import { isBlank, quoteAfter } from '../../core/text.ts'
import { type Form, type HistoryForm, type ShapedRequest, userMessage } from './form.ts'
import { placeImages } from './images.ts'
import { createCallIds, toSentName } from './names.ts'
import { shapeTools } from './shape-tools.ts'
import { toThinking } from './thinking.ts'

/**
 * Returns a request as one provider accepts it. Pure: the same request gives the same bytes, and a longer
 * history begins with the same bytes. Calls become text where no tool is sent: Anthropic and Bedrock refuse
 * calls without tools.
 */
export function shapeRequest(request: ModelRequest, form: Form): ShapedRequest {
  const called = request.messages.flatMap(message => (message.role === 'assistant' ? message.calls : []))
  const tools = shapeTools(request.tools, form.tools, new Set(called.map(call => call.name)))
  const flat = form.history.flat || tools.length === 0
  return {
    system: request.system.toWellFormed(),
    messages: shapeHistory(request.messages, { ...form, history: { ...form.history, flat } }),
    tools,
    // A model may call a tool that is left out, by the name in its history.
    names: new Map(request.tools.map(({ name }) => [toSentName(name), name])),
    maxOutput: request.maxOutput,
  }
}

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
 * Returns the arguments of a call as a model wrote them. A text that is no JSON object becomes a field of one,
 * since Ollama and chat templates refuse a whole request for it.
 */
function toArgumentsText(text: string): string {
  return isObject(parseJson(text)) ? text : JSON.stringify({ invalid_arguments: text })
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

/**
 * Returns messages in which every call has exactly one result, right after its message and in the order of
 * the calls. A call without a result gets one that says so. A result without a call becomes a quoted text,
 * since no provider takes it and its content may matter. `toId` names each call once.
 */
export function pairResults(messages: readonly ModelMessage[], toId: (id: string) => string): ModelMessage[] {
  const paired: ModelMessage[] = []
  /** Positions in `paired` where the results of the newest calls belong, by the calls' id. */
  const places = new Map<string, number[]>()
  for (const message of messages) {
    if (message.role === 'assistant' && message.calls.length > 0) {
      const calls = message.calls.map(call => ({ ...call, id: toId(call.id) }))
      for (const id of new Set(message.calls.map(call => call.id))) {
        places.set(
          id,
          message.calls.flatMap((call, at) => (call.id === id ? [paired.length + 1 + at] : [])),
        )
      }
      const missing = calls.map(({ id, name }): ToolMessage => {
        const text = 'No result was recorded for this call.'
        return { role: 'tool', callId: id, name, text, isError: true }
      })
      paired.push({ ...message, calls }, ...missing)
    } else if (message.role === 'tool') {
      const at = places.get(message.callId)?.shift()
      const missing = at === undefined ? undefined : paired[at]
      if (at === undefined || missing?.role !== 'tool') {
        const label = `A result of ${message.name}, whose call is no longer shown:`
        paired.push(userMessage(quoteAfter(label, message.text), message.images))
      } else paired[at] = { ...message, callId: missing.callId, name: missing.name }
    } else paired.push(message)
  }
  return paired
}

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
    const isMerged = message.role !== 'tool' && form.merge.includes(message.role)
    const joined = before && isMerged ? join(before, message) : undefined
    if (joined) ordered.splice(-1, 1, joined)
    else if (form.bridge && before?.role === 'tool' && message.role === 'user') ordered.push(BRIDGE, message)
    else ordered.push(message)
  }
  const last = ordered.at(-1)
  if (!last || last.role === 'assistant') ordered.push(END)
  return ordered
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
