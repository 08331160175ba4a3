import type {
  ChatCompletionFunctionTool,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import { parseJson } from '../../core/json.ts'
import type { ModelCall, ModelMessage, ModelTool } from '../../core/model.ts'

/**
 * A message of the request. The same history gives the same bytes, so that the provider's prompt cache hits, and
 * nothing that a model once wrote makes a later request invalid. What `thinker` thought before it called tools goes
 * back to it: DeepSeek refuses a request without (https://api-docs.deepseek.com/guides/thinking_mode), and Gemini one
 * without the signatures of its thoughts (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
export function toChatMessage(
  message: ModelMessage,
  thinker: string | undefined,
): ChatCompletionMessageParam {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.text }
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.text }
    case 'assistant': {
      if (message.calls.length === 0) return { role: 'assistant', content: message.text }
      const own = thinker !== undefined && message.thinking?.by === thinker ? message.thinking : undefined
      return {
        role: 'assistant',
        content: message.text || null,
        ...(own && own.text !== '' && { reasoning_content: own.text }),
        tool_calls: message.calls.map((call, at) => toToolCall(call, own?.extras?.[at])),
      }
    }
    default:
      return message satisfies never
  }
}

function toToolCall(call: ModelCall, extra: unknown): ChatCompletionMessageFunctionToolCall {
  return {
    id: call.id,
    type: 'function',
    ...(extra ? { extra_content: extra } : {}),
    function: { name: toName(call.name), arguments: toArguments(call.arguments) },
  }
}

/** OpenAI refuses a whole request for one name outside its alphabet. */
function toName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unknown'
}

/** Ollama and chat templates refuse a whole request for arguments that are no JSON object: they go in as text. */
function toArguments(text: string): string {
  const value = parseJson(text)
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? text : JSON.stringify({ invalid_arguments: text })
}

/** A tool of the request. */
export function toChatTool({ name, description, inputSchema }: ModelTool): ChatCompletionFunctionTool {
  return { type: 'function', function: { name, description, parameters: toParameters(inputSchema) } }
}

/** Gemini refuses `$schema`, OpenAI an object without `properties`. */
function toParameters({ $schema: _, ...schema }: Record<string, unknown>): Record<string, unknown> {
  return { type: 'object', properties: {}, ...schema }
}
