import type { ClientOptions } from 'openai'
import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionFunctionTool,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import { type Clock, MAX_DELAY } from '../../core/clock.ts'
import type { ModelCall, ModelImage, ModelMessage, ModelTool } from '../../core/model.ts'
import type { Adapter, ModelEntry } from '../adapter.ts'
import type { ShapedRequest } from '../form/form.ts'
import { createAdapter } from '../wire/stream-reply.ts'
import { createReplyReader } from './reply.ts'

/** Differences of one provider's chat completions. */
export interface ChatDialect {
  /** Name of the limit on a reply's tokens; default `max_tokens`. */
  limit?: 'max_tokens' | 'max_completion_tokens'
  /** Parameters besides those of every request. */
  parameters?: Record<string, unknown>
  /** True where the messages mark the ends of what Anthropic is to cache. */
  marksCache?: boolean
}

/** Key for providers that want none; the package insists on one. */
const NO_KEY = 'none'

/** Opens an adapter that asks by streamed chat completions, with the `openai` package. */
export async function openChatAdapter(
  entry: ModelEntry,
  clock: Clock,
  dialect: ChatDialect = {},
): Promise<Adapter> {
  const { OpenAI } = await import('openai')
  return createAdapter(entry, clock, {
    takesDocument: true,
    toReader(options, { tools }) {
      const isTool = (name: string) => tools.some(tool => tool.name === name)
      return createReplyReader({ ...options, isTool })
    },
    open(request, fetch) {
      const openai = new OpenAI({ ...toClientOptions(entry), fetch })
      return openai.chat.completions.create(toBody(entry, request, dialect))
    },
  })
}

/** Returns all of the package's options, because the package reads missing ones from the environment. */
function toClientOptions({ baseUrl, apiKey, headers = {} }: ModelEntry): ClientOptions {
  return {
    baseURL: baseUrl,
    apiKey: apiKey || NO_KEY,
    defaultHeaders: headers,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: MAX_DELAY,
    logLevel: 'off',
  }
}

function toBody(
  { model, temperature }: ModelEntry,
  { system, messages, tools, maxOutput }: ShapedRequest,
  { limit = 'max_tokens', parameters = {}, marksCache = false }: ChatDialect,
): ChatCompletionCreateParamsStreaming {
  return {
    model,
    messages: toChatMessages(system, messages, marksCache),
    ...(tools.length > 0 && { tools: tools.map(toChatTool) }),
    stream: true,
    [limit]: maxOutput,
    stream_options: { include_usage: true },
    ...(temperature !== undefined && { temperature }),
    ...parameters,
  }
}

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
