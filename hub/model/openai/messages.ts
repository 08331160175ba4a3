import type {
  ChatCompletionContentPart,
  ChatCompletionFunctionTool,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import type { ModelCall, ModelImage, ModelMessage, ModelTool } from '../../core/model.ts'

/**
 * Returns the messages of a request. The same history gives the same bytes, so that the prompt cache hits.
 * `marksCache` marks the ends of what Anthropic is to cache: the prompt, and the second-to-last message.
 */
export function toChatMessages(
  system: string,
  messages: readonly ModelMessage[],
  marksCache: boolean,
): ChatCompletionMessageParam[] {
  const prompt: ChatCompletionMessageParam[] = system === '' ? [] : [{ role: 'system', content: system }]
  const written = [...prompt, ...messages.map(toChatMessage)]
  if (!marksCache) return written
  const ends = [written[0], messages.length > 1 ? written.at(-2) : undefined]
  return written.map(message => (ends.includes(message) ? marked(message) : message))
}

/** Marks a message; only a text part can carry the mark. */
function marked(message: ChatCompletionMessageParam): ChatCompletionMessageParam {
  if (typeof message.content !== 'string' || message.content === '') return message
  const part = { type: 'text', text: message.content, cache_control: { type: 'ephemeral' } } as const
  return { ...message, content: [part] } as ChatCompletionMessageParam
}

/**
 * Returns a message of the request. The thoughts before a call go back to the model: DeepSeek refuses a
 * request without them (https://api-docs.deepseek.com/guides/thinking_mode), and Gemini one without the
 * signatures of its thoughts (https://ai.google.dev/gemini-api/docs/thought-signatures, OpenRouter's
 * `reasoning_details`).
 */
export function toChatMessage(message: ModelMessage): ChatCompletionMessageParam {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: toContent(message.text, message.images) }
    case 'tool': {
      const content = toContent(message.text, message.images)
      // The package's types have no pictures in results; servers that take them want them as in users'
      // messages.
      return { role: 'tool', tool_call_id: message.callId, content } as ChatCompletionMessageParam
    }
    case 'assistant': {
      const { text, calls, thinking } = message
      const hasOther = thinking?.extras !== undefined || thinking?.parts !== undefined
      return {
        role: 'assistant',
        content: text || (calls.length > 0 ? null : ''),
        ...(thinking && !(thinking.text === '' && hasOther) && { reasoning_content: thinking.text }),
        ...(thinking?.parts !== undefined && { reasoning_details: thinking.parts }),
        ...(calls.length > 0 && {
          tool_calls: calls.map((call, at) => toToolCall(call, thinking?.extras?.[at])),
        }),
      }
    }
    default:
      return message satisfies never
  }
}

function toContent(text: string, images: readonly ModelImage[] = []): string | ChatCompletionContentPart[] {
  if (images.length === 0) return text
  return [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...images.map(({ mimeType, data }) => ({
      type: 'image_url' as const,
      image_url: { url: `data:${mimeType};base64,${data}` },
    })),
  ]
}

function toToolCall(call: ModelCall, extra: unknown): ChatCompletionMessageFunctionToolCall {
  return {
    id: call.id,
    type: 'function',
    ...(extra ? { extra_content: extra } : {}),
    function: { name: call.name, arguments: call.arguments },
  }
}

export function toChatTool({ name, description, inputSchema }: ModelTool): ChatCompletionFunctionTool {
  return { type: 'function', function: { name, description, parameters: inputSchema } }
}
