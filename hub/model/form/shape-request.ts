import type { ModelRequest } from '../../core/model.ts'
import type { Form, ShapedRequest } from './form.ts'
import { toSentName } from './names.ts'
import { shapeHistory } from './shape-history.ts'
import { shapeTools } from './shape-tools.ts'

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
