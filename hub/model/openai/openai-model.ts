import type { Clock } from '../../core/clock.ts'
import { type Model, ModelError, type ModelMessage, type ModelRequest, type Price } from '../../core/model.ts'
import { toSpan } from '../../core/text.ts'
import { type CallWatch, createCallWatch } from './call-watch.ts'
import { decideDialect, firstDialect } from './dialect.ts'
import { type Answer, createPost } from './post.ts'
import { describeProvider, type Provider } from './provider-error.ts'
import { readReply } from './read-reply.ts'
import { createReplyReader } from './reply.ts'
import { createRequestWriter } from './request-writer.ts'
import { fromResponseError, toSendError } from './send-error.ts'

export interface OpenAiModelOptions {
  /** Of any OpenAI-compatible provider; most end in `/v1`. */
  baseUrl: string
  /** Missing or empty where the provider wants none. */
  apiKey?: string | undefined
  model: string
  /** Tokens that request and reply may have together. */
  context: number
  maxOutput: number
  price?: Price | undefined
  clock: Clock
  /** Milliseconds until the response begins. */
  connectTimeoutMs?: number
  /** Milliseconds between two pieces of a response. */
  idleTimeoutMs?: number
}

const CONNECT_TIMEOUT = 60_000
/** Addresses without encryption are at home, where a model may first have to be loaded, or reads a long prompt slowly. */
const CONNECT_TIMEOUT_AT_HOME = 5 * 60_000
const IDLE_TIMEOUT = 120_000

/** A changed name for the reply's limit, and no usage. */
const MAX_CHANGES = 2

/**
 * A model behind an OpenAI-compatible API, asked by streamed chat completions. Opens nothing until it is asked, and
 * owns nothing between calls but idle connections that the platform closes.
 */
export function createOpenAiModel(options: OpenAiModelOptions): Model {
  const isAtHome = options.baseUrl.startsWith('http:')
  const connectTimeout = isAtHome ? CONNECT_TIMEOUT_AT_HOME : CONNECT_TIMEOUT
  const { clock, connectTimeoutMs = connectTimeout, idleTimeoutMs = IDLE_TIMEOUT } = options
  const provider = { baseUrl: options.baseUrl, apiKey: options.apiKey?.trim() ?? '', model: options.model }
  const post = createPost(provider, '/chat/completions')
  const writeRequest = createRequestWriter(provider)
  let accepted = firstDialect(options.baseUrl)

  /** Sends the request as the provider is known to want it; where it refuses that, finds out how it does. */
  async function send(request: ModelRequest, watch: CallWatch): Promise<Answer> {
    const write = writeRequest(request)
    let dialect = accepted
    for (let changes = 0; ; changes++) {
      try {
        watch.within(connectTimeoutMs, () => connectError(provider, connectTimeoutMs))
        const answer = await post(write(dialect), watch.signal)
        accepted = dialect
        return answer
      } catch (error) {
        if (watch.signal.aborted) throw watch.signal.reason
        const refusal = fromResponseError(error)
        const next = refusal && changes < MAX_CHANGES ? decideDialect(dialect, refusal) : undefined
        if (!next) throw toSendError(provider, error, clock.now())
        dialect = next
      }
    }
  }

  return {
    name: options.model,
    context: options.context,
    maxOutput: options.maxOutput,
    ...(options.price ? { price: options.price } : {}),
    async complete(request, { signal, onText }) {
      using watch = createCallWatch(clock, signal)
      const reply = createReplyReader({
        provider,
        onText,
        makeId: position => makeId(request, position),
        taken: callIds(request.messages),
        isTool: name => request.tools.some(tool => tool.name === name),
      })
      const answer = await send(request, watch)
      try {
        await readReply(answer, reply, { provider, watch, idleTimeoutMs })
        signal.throwIfAborted()
        return reply.finish()
      } catch (error) {
        if (error instanceof ModelError) error.begun = reply.begun
        throw error
      }
    },
  }
}

/** Unlike any other of the window: a later request has a later time or more messages. */
function makeId({ now, messages }: ModelRequest, position: number): string {
  return `call_${now.toString(36)}_${messages.length}_${position}`
}

function callIds(messages: readonly ModelMessage[]): Set<string> {
  const ids = new Set<string>()
  for (const message of messages) {
    if (message.role === 'assistant') for (const call of message.calls) ids.add(call.id)
  }
  return ids
}

function connectError(provider: Provider, delay: number): ModelError {
  return new ModelError(
    'network',
    `${describeProvider(provider)} did not answer within ${toSpan(delay)}. Check that it runs and is not busy loading the model.`,
  )
}
