import type { ModelMessage, ModelRequest } from '../../core/model.ts'
import type { Form, ShapedRequest } from './form.ts'

/** The request in the form that a provider accepts. */
export function shapeRequest(request: ModelRequest, form: Form): ShapedRequest {
  const { system, messages, tools, maxOutput } = request
  const sent = tools.filter(({ name }) => !form.tools.leftOut.includes(name))
  return {
    system,
    messages: joinUsers(messages).map(message => toOwn(message, form)),
    tools: sent.map(({ inputSchema: { $schema: _, ...schema }, ...tool }) => ({
      ...tool,
      inputSchema: { type: 'object', properties: {}, ...schema },
    })),
    names: new Map(),
    maxOutput,
  }
}

function toOwn(message: ModelMessage, { family, history }: Form): ModelMessage {
  if (message.role !== 'assistant' || !message.thinking) return message
  const isWanted = history.reasoning === 'all' || (history.reasoning === 'calls' && message.calls.length > 0)
  return message.thinking.by === family && isWanted ? message : { ...message, thinking: undefined }
}

/** Chat templates of local models refuse a request in which roles do not alternate. */
function joinUsers(messages: readonly ModelMessage[]): ModelMessage[] {
  const joined: ModelMessage[] = []
  for (const message of messages) {
    const before = joined.at(-1)
    if (message.role !== 'user' || before?.role !== 'user') joined.push(message)
    else joined.splice(-1, 1, { ...message, text: `${before.text}\n\n${message.text}`, items: [] })
  }
  return joined
}
