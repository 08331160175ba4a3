import { parseJson } from '../../core/json.ts'
import { type Begun, ModelError, type ModelReply, type ModelUsage, type Thinking } from '../../core/model.ts'
import { type AccumulatedCall, createCallAccumulator } from './accumulate.ts'
import { describeProvider, type Provider, toModelError, toRefusal } from './provider-error.ts'
import type { SseEvent } from './sse.ts'
import { createThinkingFilter, dropThoughts } from './thinking.ts'

export interface ReplyReader {
  /** How far the reply is: `finished` once its reason to end came, `done` once nothing follows. */
  readonly stage: 'open' | 'finished' | 'done'
  /** What of the reply is there; undefined where none of it is. */
  readonly begun: Begun | undefined
  /** Takes the next event. Throws a ModelError where it is an error or makes no sense. */
  take(event: SseEvent): void
  /** Shows the text of the events taken since the last time: once for all that came together. */
  show(): void
  /** The reply, once the stream has ended. Throws a ModelError where it is not a whole one. May be called once. */
  finish(): ModelReply
}

interface ReplyOptions {
  provider: Provider
  /** Gets the shown text piece by piece. What it throws passes through. */
  onText: (text: string) => void
  /** Names the call at a position where the provider did not, or gave it an id of `taken`. */
  makeId: (position: number) => string
  taken: ReadonlySet<string>
  /** Whether a name is that of a tool that may be called. */
  isTool: (name: string) => boolean
}

/** A chunk as far as it is read. Whatever a provider sends for the rest is not looked at. */
interface Chunk {
  error?: unknown
  usage?: RawUsage | null
  choices?: ({ delta?: Delta | null; message?: Delta | null; finish_reason?: unknown } | null)[] | null
}

interface Delta {
  /** What the model thinks; `reasoning` at OpenRouter and Ollama, which do not want it back. */
  reasoning_content?: unknown
  content?: unknown
  refusal?: unknown
  tool_calls?: unknown
}

interface RawUsage {
  prompt_tokens?: unknown
  completion_tokens?: unknown
  prompt_tokens_details?: { cached_tokens?: unknown } | null
}

export function createReplyReader(options: ReplyOptions): ReplyReader {
  const { provider, onText, makeId, taken } = options
  const calls = createCallAccumulator(makeId, options.isTool)
  const filter = createThinkingFilter()
  let raw = ''
  let fresh = ''
  let thought = ''
  let usage: ModelUsage | undefined
  let reason: string | undefined
  let done = false

  function tell(piece: string) {
    if (piece !== '') onText(piece)
  }

  function show() {
    const piece = fresh
    fresh = ''
    if (piece !== '') tell(filter.push(piece))
  }

  function takeChunk(chunk: Chunk) {
    usage = toUsage(chunk.usage) ?? usage
    const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined
    if (!choice) return
    const delta = choice.delta ?? choice.message
    if (delta) {
      thought += toText(delta.reasoning_content)
      const piece = toText(delta.content) + toText(delta.refusal)
      raw += piece
      fresh += piece
      if (delta.tool_calls) calls.push(delta.tool_calls)
    }
    if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') reason = choice.finish_reason
  }

  return {
    get stage() {
      if (done) return 'done'
      return reason === undefined ? 'open' : 'finished'
    },
    get begun() {
      return toBegun(thought + raw, calls.finish(), usage)
    },
    take({ name, data }) {
      if (done) return
      done = data.trim() === '[DONE]'
      if (done) return
      const chunk = parseJson(data)
      if (typeof chunk !== 'object' || chunk === null) {
        if (reason !== undefined) return
        throw brokenStream(provider, 'sent what is no JSON object in the middle of the reply')
      }
      const error = 'error' in chunk && chunk.error ? chunk.error : undefined
      if (error || name === 'error') throw toModelError(provider, toRefusal(error ?? chunk))
      takeChunk(chunk)
    },
    show,
    finish() {
      const failure = decideFailure(provider, reason, done)
      if (failure) throw failure
      show()
      tell(filter.end())
      const made = calls.finish()
      return {
        text: dropThoughts(raw),
        calls: made.map(({ call }, at) => (taken.has(call.id) ? { ...call, id: makeId(at) } : call)),
        ...thinkingOf(provider, thought, made),
        ...(usage && { usage }),
        truncated: reason === 'length' || reason === 'max_tokens',
      }
    },
  }
}

function toBegun(
  text: string,
  made: readonly AccumulatedCall[],
  usage: ModelUsage | undefined,
): Begun | undefined {
  const written = text + made.map(({ call }) => call.name + call.arguments).join('')
  return written === '' && !usage ? undefined : { written, usage }
}

function thinkingOf(
  provider: Provider,
  text: string,
  made: readonly AccumulatedCall[],
): { thinking?: Thinking } {
  const extras = made.map(({ extra }) => extra ?? null)
  const hasExtras = extras.some(extra => extra !== null)
  if (text === '' && !hasExtras) return {}
  return { thinking: { by: thinkerOf(provider), text, ...(hasExtras && { extras }) } }
}

/** Names whose thoughts they are: one model of one provider. */
export function thinkerOf({ baseUrl, model }: Provider): string {
  return `${model ?? ''} at ${baseUrl}`
}

/** `what` says what the provider did, after its name. */
export function brokenStream(provider: Provider, what: string, cause?: unknown): ModelError {
  return new ModelError('broken_stream', `${describeProvider(provider)} ${what}.`, { cause })
}

/** No reason to end, and reasons that mean there is no reply: OpenAI's, OpenRouter's, DeepSeek's. */
function decideFailure(
  provider: Provider,
  reason: string | undefined,
  done: boolean,
): ModelError | undefined {
  if (reason === undefined && !done) return brokenStream(provider, 'ended the reply before it was whole')
  if (reason === 'content_filter') {
    return new ModelError(
      'rejected',
      `${describeProvider(provider)} stopped the reply by its content filter.`,
    )
  }
  if (reason !== 'error' && reason !== 'insufficient_system_resource') return undefined
  return new ModelError('server', `${describeProvider(provider)} ended the reply with "${reason}".`)
}

/** Text, or the text parts of a list (Mistral lists its thoughts beside them). */
function toText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map(part => (part?.type === 'text' && typeof part.text === 'string' ? part.text : ''))
    .join('')
}

function toUsage(raw: RawUsage | null | undefined): ModelUsage | undefined {
  if (typeof raw?.prompt_tokens !== 'number' || typeof raw.completion_tokens !== 'number') return undefined
  // Some send zeros for not knowing: what was asked is never nothing, and limits would never be reached.
  if (!(raw.prompt_tokens > 0)) return undefined
  const cached = raw.prompt_tokens_details?.cached_tokens
  return {
    input: raw.prompt_tokens,
    output: raw.completion_tokens,
    cachedInput: typeof cached === 'number' ? cached : 0,
  }
}
