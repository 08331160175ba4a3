import { type ModelCall, ModelError, type ModelReply, type ModelUsage } from '../../core/model.ts'
import {
  brokenStream,
  describeProvider,
  type Endpoint,
  errorIn,
  filtered,
  toModelError,
  toRefusal,
} from '../wire/provider-error.ts'
import type { ReaderOptions, ReplyReader } from '../wire/stream-reply.ts'
import { createThinkingFilter, type ThinkingFilter } from '../wire/thinking-filter.ts'
import type { KeptPart, ProviderOptions, StreamPart } from './prompt.ts'

interface Part {
  type: KeptPart['type']
  text: string
  meta: ProviderOptions | undefined
}

interface Piece {
  type: string
  id: string
  delta?: string
  providerMetadata?: ProviderOptions
}

type Finish = Extract<StreamPart, { type: 'finish' }>

export function createPartsReader(options: ReaderOptions): ReplyReader<StreamPart> {
  const { endpoint, family, onText, makeId } = options
  const collected = createParts(onText)
  const { parts, textOf, take } = collected
  const calls: ModelCall[] = []
  let finish: Finish | undefined
  let event: unknown
  let written = 0
  let thought = 0
  return {
    get written() {
      return written
    },
    get thought() {
      return thought
    },
    get isWhole() {
      const { unified = 'other', raw } = finish?.finishReason ?? {}
      return unified !== 'other' || raw !== undefined
    },
    get usage() {
      return toUsage(finish)
    },
    raw: () => collected.raw + calls.map(({ name, arguments: args }) => name + args).join(''),
    take(part) {
      const length = 'delta' in part && typeof part.delta === 'string' ? part.delta.length : 0
      if (part.type === 'reasoning-delta') thought += length
      else written += length
      switch (part.type) {
        case 'text-start':
        case 'text-delta':
        case 'text-end':
          return take('text', part)
        case 'reasoning-start':
        case 'reasoning-delta':
        case 'reasoning-end':
          return take('reasoning', part)
        case 'tool-call': {
          const { toolCallId, toolName, input, providerMetadata } = part
          calls.push({
            id: toolCallId || makeId(calls.length),
            name: toolName,
            arguments: input.trim() || '{}',
          })
          parts.push({ type: 'call', text: '', meta: providerMetadata })
          return
        }
        case 'finish':
          finish = part
          return
        case 'raw':
          event = part.rawValue
          return
        case 'error':
          throw toPartError(endpoint, part.error, event)
        default:
          return
      }
    },
    finish() {
      const failure = decideFailure(endpoint, finish)
      if (failure) throw failure
      const usage = toUsage(finish)
      return {
        text: textOf('text'),
        calls,
        ...toThinking(family, textOf('reasoning'), parts),
        ...(usage && { usage }),
        truncated: finish?.finishReason.unified === 'length',
      }
    },
  }
}

/** Collects texts and thoughts, each under its own id, in the order in which they begin. */
function createParts(onText: (text: string) => void) {
  const parts: Part[] = []
  const open = new Map<string, { part: Part; filter: ThinkingFilter | undefined }>()
  let raw = ''
  const textOf = (type: Part['type']) => parts.map(part => (part.type === type ? part.text : '')).join('')

  function begin(type: 'text' | 'reasoning', id: string) {
    const part: Part = { type, text: '', meta: undefined }
    const begun = { part, filter: type === 'text' ? createThinkingFilter('start') : undefined }
    open.set(`${type} ${id}`, begun)
    parts.push(part)
    return begun
  }

  function take(type: 'text' | 'reasoning', piece: Piece) {
    const { id, delta = '', providerMetadata } = piece
    const known = piece.type.endsWith('-start') ? undefined : open.get(`${type} ${id}`)
    const { part, filter } = known ?? begin(type, id)
    part.meta = providerMetadata ?? part.meta
    raw += delta
    const shown = filter ? filter.push(delta) + (piece.type === 'text-end' ? filter.end() : '') : delta
    if (shown === '') return
    // Two texts of one reply, such as a comment and the answer, must not join to one word.
    const isNext = type === 'text' && part.text === '' && textOf('text') !== ''
    const text = isNext ? `\n\n${shown}` : shown
    part.text += text
    if (type === 'text') onText(text)
  }

  return {
    parts,
    textOf,
    take,
    /** All that was written, also what is not shown. */
    get raw() {
      return raw
    },
  }
}

/** Returns the error in an event as it came, or a broken stream where the package could not read it. */
function toPartError(endpoint: Endpoint, error: unknown, event: unknown): ModelError {
  const said = errorIn(event) ?? (error instanceof Error ? undefined : error)
  if (said !== undefined) return toModelError(endpoint, toRefusal(said))
  return brokenStream(endpoint, 'sent what cannot be read in the middle of the reply')
}

function decideFailure(endpoint: Endpoint, finish: Finish | undefined): ModelError | undefined {
  const { unified, raw } = finish?.finishReason ?? { unified: 'other', raw: undefined }
  if (unified === 'content-filter') return filtered(endpoint)
  if (unified !== 'error') return undefined
  return new ModelError('server', `${describeProvider(endpoint)} ended the reply with "${raw ?? 'error'}".`)
}

/** Returns what is kept of a reply's thoughts: nothing of a plain text that no provider wants back. */
function toThinking(by: string, text: string, parts: readonly Part[]): Pick<ModelReply, 'thinking'> {
  if (text === '' && parts.every(({ meta }) => meta === undefined)) return {}
  const kept: KeptPart[] = parts.map(({ type, text: written, meta }) => ({
    type,
    length: type === 'call' ? 1 : written.length,
    ...(meta && { meta }),
  }))
  return { thinking: { by, text, parts: kept } }
}

/** Returns the usage; undefined where the provider reports none, or reports that nothing was asked. */
function toUsage(finish: Finish | undefined): ModelUsage | undefined {
  const { inputTokens, outputTokens } = finish?.usage ?? {}
  if (!inputTokens?.total || outputTokens?.total === undefined) return undefined
  return { input: inputTokens.total, output: outputTokens.total, cachedInput: inputTokens.cacheRead ?? 0 }
}
