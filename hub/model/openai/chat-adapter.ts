import type { ClientOptions } from 'openai'
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions'
import { type Clock, MAX_DELAY } from '../../core/clock.ts'
import type { Adapter, ModelEntry } from '../adapter.ts'
import type { ShapedRequest } from '../form/form.ts'
import { createAdapter } from '../wire/stream-reply.ts'
import { toChatMessages, toChatTool } from './messages.ts'
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
