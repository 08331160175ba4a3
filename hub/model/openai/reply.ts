import { ModelError, type ModelUsage, type Thinking } from '../../core/model.ts'
import { brokenStream, describeProvider, filtered } from '../wire/provider-error.ts'
import type { ReaderOptions, ReplyReader } from '../wire/stream-reply.ts'
import { createThinkingFilter, dropThoughts } from '../wire/thinking-filter.ts'
import { type AccumulatedCall, createCallAccumulator } from './accumulate.ts'

/** A chunk, with only the fields that are read. */
interface Chunk {
  usage?: RawUsage | null
  choices?: ({ delta?: Delta | null; message?: Delta | null; finish_reason?: unknown } | null)[] | null
}

interface Delta {
  /** Thoughts of the model; `reasoning` at OpenRouter and Ollama, which do not want them back. */
  reasoning_content?: unknown
  /** OpenRouter's list of what the model's own provider wants back. */
  reasoning_details?: unknown
  content?: unknown
  refusal?: unknown
  tool_calls?: unknown
}

interface RawUsage {
  prompt_tokens?: unknown
  completion_tokens?: unknown
  prompt_tokens_details?: { cached_tokens?: unknown } | null
}

/** Creates a reader; `isTool` tells whether a name is that of a tool that may be called. */
export function createReplyReader(
  options: ReaderOptions & { isTool: (name: string) => boolean },
): ReplyReader<unknown> {
  const { endpoint, family, onText, makeId, isTool } = options
  const calls = createCallAccumulator(makeId, isTool)
  const details = createDetails()
  const filter = createThinkingFilter()
  let raw = ''
  let thought = ''
  let called = 0
  let usage: ModelUsage | undefined
  let reason: string | undefined

  function tell(piece: string) {
    if (piece !== '') onText(piece)
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
      details.push(delta.reasoning_details)
      if (Array.isArray(delta.tool_calls)) {
        calls.push(delta.tool_calls)
        for (const each of delta.tool_calls) called += toText(each?.function?.arguments).length
      }
      if (piece !== '') tell(filter.push(piece))
    }
    if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') reason = choice.finish_reason
  }

  return {
    get isWhole() {
      return reason !== undefined
    },
    get written() {
      return raw.length + called
    },
    get thought() {
      return thought.length
    },
    get usage() {
      return usage
    },
    raw() {
      const made = calls.finish().map(({ call }) => call.name + call.arguments)
      return thought + raw + made.join('')
    },
    take(chunk) {
      if (typeof chunk !== 'object' || chunk === null) {
        if (reason !== undefined) return
        throw brokenStream(endpoint, 'sent what is no JSON object in the middle of the reply')
      }
      takeChunk(chunk)
    },
    finish() {
      if (reason === 'content_filter') throw filtered(endpoint)
      if (reason === 'error' || reason === 'insufficient_system_resource')
        throw new ModelError('server', `${describeProvider(endpoint)} ended the reply with "${reason}".`)
      tell(filter.end())
      const made = calls.finish()
      return {
        text: dropThoughts(raw),
        calls: made.map(({ call }) => call),
        ...toThinking(family, thought, made, details.all),
        ...(usage && { usage }),
        truncated: reason === 'length' || reason === 'max_tokens',
      }
    },
  }
}

function toThinking(
  by: string,
  text: string,
  made: readonly AccumulatedCall[],
  parts: readonly unknown[],
): { thinking?: Thinking } {
  const extras = made.map(({ extra }) => extra ?? null)
  const hasExtras = extras.some(extra => extra !== null)
  if (text === '' && !hasExtras && parts.length === 0) return {}
  return { thinking: { by, text, ...(hasExtras && { extras }), ...(parts.length > 0 && { parts }) } }
}

/**
 * Puts the streamed pieces of `reasoning_details` together. A piece of a text or of a summary continues the
 * last entry if its type and index are the same; every other piece is an entry of its own
 * (https://openrouter.ai/docs/guides/best-practices/reasoning-tokens).
 */
function createDetails() {
  const all: Record<string, unknown>[] = []
  return {
    all,
    push(pieces: unknown) {
      if (!Array.isArray(pieces)) return
      for (const piece of pieces) {
        if (typeof piece !== 'object' || piece === null) continue
        const last = all.at(-1)
        const goesOn = last !== undefined && last['type'] === piece.type && last['index'] === piece.index
        if (!goesOn || piece.type === 'reasoning.encrypted') {
          all.push({ ...piece })
          continue
        }
        for (const [key, value] of Object.entries(piece)) {
          const isText = (key === 'text' || key === 'summary') && typeof value === 'string'
          if (isText) last[key] = toText(last[key]) + value
          else if (value !== null) last[key] = value
        }
      }
    },
  }
}

/** Returns a text, or the text parts of a list (Mistral lists its thoughts beside them). */
function toText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map(part => (part?.type === 'text' && typeof part.text === 'string' ? part.text : ''))
    .join('')
}

function toUsage(raw: RawUsage | null | undefined): ModelUsage | undefined {
  if (typeof raw?.prompt_tokens !== 'number' || typeof raw.completion_tokens !== 'number') return undefined
  // Zeros mean that the provider does not know: a request has tokens, and zeros would never reach a limit.
  if (!(raw.prompt_tokens > 0)) return undefined
  const cached = raw.prompt_tokens_details?.cached_tokens
  return {
    input: raw.prompt_tokens,
    output: raw.completion_tokens,
    cachedInput: typeof cached === 'number' ? cached : 0,
  }
}
