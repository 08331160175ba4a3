import type { ModelMessage } from '../../core/model.ts'
import { quoteAfter } from '../../core/text.ts'
import { type AssistantMessage, type ToolMessage, type UserMessage, userMessage } from './messages.ts'

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
      paired.push({ ...message, calls }, ...calls.map(toMissing))
    } else if (message.role === 'tool') {
      const at = places.get(message.callId)?.shift()
      const missing = at === undefined ? undefined : paired[at]
      if (at === undefined || missing?.role !== 'tool') paired.push(toTold(message))
      else paired[at] = { ...message, callId: missing.callId, name: missing.name }
    } else paired.push(message)
  }
  return paired
}

function toMissing({ id, name }: AssistantMessage['calls'][number]): ToolMessage {
  return { role: 'tool', callId: id, name, text: 'No result was recorded for this call.', isError: true }
}

function toTold({ name, text, images }: ToolMessage): UserMessage {
  return userMessage(quoteAfter(`A result of ${name}, whose call is no longer shown:`, text), images)
}
