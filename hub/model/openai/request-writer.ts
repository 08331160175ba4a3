import type { ModelRequest } from '../../core/model.ts'
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
    const written = messages.map(writeMessage)
    if (system !== '') written.unshift(JSON.stringify({ role: 'system', content: system }))
    const listed = tools.length > 0 ? `,"tools":[${tools.map(writeTool).join()}]` : ''
    const start = `{"model":${JSON.stringify(provider.model)},"messages":[${written.join()}]${listed}`
    return dialect =>
      `${start},"stream":true,"${dialect.limit}":${maxOutput}${dialect.usage ? ',"stream_options":{"include_usage":true}' : ''}}`
  }
}

function writeOnce<Value extends object>(toShape: (value: Value) => object): (value: Value) => string {
  const known = new WeakMap<Value, string>()
  return value => {
    const text = known.get(value) ?? JSON.stringify(toShape(value))
    known.set(value, text)
    return text
  }
}
