import type { ModelMessage, ModelRequest } from '../../core/model.ts'
import type { Dialect } from './dialect.ts'
import { toChatMessage, toChatTool } from './messages.ts'
import type { Provider } from './provider-error.ts'
import { thinkerOf } from './reply.ts'

/**
 * Writes requests as JSON. A window grows at its end: what was written of a message or a tool is kept as long as that
 * itself is, so that a long conversation costs no more per step than a short one.
 */
export function createRequestWriter(
  provider: Provider & { model: string },
): (request: ModelRequest) => (dialect: Dialect) => string {
  const thinker = thinkerOf(provider)
  const writeMessage = writeOnce((message: ModelRequest['messages'][number]) =>
    toChatMessage(message, thinker),
  )
  const writeTool = writeOnce(toChatTool)
  return ({ system, messages, tools, maxOutput }) => {
    const written = joinUsers(messages).map(writeMessage)
    if (system !== '') written.unshift(JSON.stringify({ role: 'system', content: system }))
    const listed = tools.length > 0 ? `,"tools":[${tools.map(writeTool).join()}]` : ''
    const start = `{"model":${JSON.stringify(provider.model)},"messages":[${written.join()}]${listed}`
    return dialect =>
      `${start},"stream":true,"${dialect.limit}":${maxOutput}${dialect.usage ? ',"stream_options":{"include_usage":true}' : ''}}`
  }
}

/**
 * Neighbouring messages of the user as one, as where an agent said nothing to the one before: chat templates of local
 * models refuse a request in which roles do not alternate (Gemma's and Mistral's "must alternate user/assistant").
 */
function joinUsers(messages: readonly ModelMessage[]): ModelMessage[] {
  const joined: ModelMessage[] = []
  for (const message of messages) {
    const before = joined.at(-1)
    if (message.role !== 'user' || before?.role !== 'user') joined.push(message)
    else joined.splice(-1, 1, { role: 'user', text: `${before.text}\n\n${message.text}`, items: [] })
  }
  return joined
}

/** The text stays with the value itself: a map of thousands of them would cost the collector more than it saves. */
function writeOnce<Value extends object>(toShape: (value: Value) => object): (value: Value) => string {
  const written = Symbol('written')
  return (value: Value & { [written]?: string }) => {
    const known = value[written]
    if (known !== undefined) return known
    const text = JSON.stringify(toShape(value))
    Object.defineProperty(value, written, { value: text, enumerable: false })
    return text
  }
}
