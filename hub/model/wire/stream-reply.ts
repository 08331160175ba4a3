import type { Clock } from '../../core/clock.ts'
import { type Begun, ModelError, type ModelReply, type ModelUsage } from '../../core/model.ts'
import type { Adapter, AskOptions, ModelEntry } from '../adapter.ts'
import { familyOf, type ShapedRequest } from '../form/form.ts'
import { describeProvider, type Endpoint } from './provider-error.ts'
import { openWireCall, type WireCall } from './wire-call.ts'

/** Milliseconds to wait for what may follow a whole reply: its usage and the end of the connection. */
const AFTER_FINISH = 2_000
/** Characters for each token of the limit; a provider that writes more does not keep to the limit. */
const LONGEST_TOKEN = 8
/**
 * Most characters of thoughts, about 100,000 tokens. Alibaba's limit on a reply does not count its thoughts,
 * which may have 81,920 tokens (https://help.aliyun.com/zh/model-studio/deep-thinking).
 */
const LONGEST_THOUGHT = 400_000

/** Milliseconds within which the reply has to begin. */
const TIMEOUT = 60_000
/**
 * Milliseconds for addresses without encryption: a local server may first load the model, or read a long
 * prompt slowly.
 */
const TIMEOUT_AT_HOME = 5 * 60_000

/** Puts a reply together from the pieces that a package gives. */
export interface ReplyReader<Piece> {
  /** Takes a piece. Throws a ModelError for an error in the stream. What `onText` throws passes through. */
  take(piece: Piece): void
  /** Characters of texts and arguments so far. */
  readonly written: number
  /** Characters of thoughts so far. */
  readonly thought: number
  /** True once the reason to end came. */
  readonly isWhole: boolean
  readonly usage: ModelUsage | undefined
  /** Returns everything that came so far: thoughts, text and calls. */
  raw(): string
  /**
   * Returns the reply, once the stream has ended. Throws a ModelError where its reason to end means that
   * there is none.
   */
  finish(): ModelReply
}

/** What a reader needs besides the pieces of the stream. */
export interface ReaderOptions extends Pick<AskOptions, 'onText' | 'makeId'> {
  endpoint: Endpoint
  /** Family that made the thoughts. */
  family: string
}

/** A package's way to ask: `open` sends the request with the given `fetch`. */
export interface Wire<Piece> {
  takesDocument?: boolean
  toReader(options: ReaderOptions, request: ShapedRequest): ReplyReader<Piece>
  open(request: ShapedRequest, fetch: WireCall['fetch']): PromiseLike<AsyncIterable<Piece>>
}

/**
 * Returns an adapter that asks over a wire and reads the stream to its end. It throws a ModelError where
 * there is no whole reply, with the part that had begun. An error after a whole reply does not lose it.
 */
export function createAdapter<Piece>(entry: ModelEntry, clock: Clock, wire: Wire<Piece>): Adapter {
  return async (request, { signal, onText, onCut, makeId, without }) => {
    signal.throwIfAborted()
    using call = openWireCall({
      endpoint: entry,
      clock,
      signal,
      timeout: entry.timeout ?? (entry.baseUrl.startsWith('http:') ? TIMEOUT_AT_HOME : TIMEOUT),
      edit: editOf(entry, without),
      takesDocument: wire.takesDocument,
    })
    const reply = wire.toReader({ endpoint: entry, family: familyOf(entry), onText, makeId }, request)
    const { maxOutput } = request
    try {
      for await (const piece of piecesOf(call, reply, () => wire.open(request, call.fetch))) {
        reply.take(piece)
        if (reply.written > maxOutput * LONGEST_TOKEN || reply.thought > LONGEST_THOUGHT)
          throw overlong(entry, maxOutput)
        if (reply.isWhole) call.patience = AFTER_FINISH
      }
      signal.throwIfAborted()
      if (!reply.isWhole && !call.isClosed) throw call.toError()
      return reply.finish()
    } catch (error) {
      const begun = begunOf(reply)
      if (error instanceof ModelError) error.begun = begun
      else if (signal.aborted && begun) onCut?.(begun)
      throw error
    }
  }
}

/** Returns the part of the reply that came so far; undefined where nothing came. */
export function begunOf({ usage, raw }: Pick<ReplyReader<never>, 'usage' | 'raw'>): Begun | undefined {
  const written = raw()
  return written === '' && !usage ? undefined : { written, usage }
}

function overlong(endpoint: Endpoint, maxOutput: number): ModelError {
  return new ModelError(
    'rejected',
    `${describeProvider(endpoint)} wrote far more than the ${maxOutput} tokens that a reply may have, and was cut off. It does not keep to the limit that it is sent.`,
  )
}

/** Yields the package's pieces and translates its errors, but not what the loop that reads throws. */
async function* piecesOf<Piece>(
  call: WireCall,
  reply: ReplyReader<Piece>,
  open: () => PromiseLike<AsyncIterable<Piece>>,
): AsyncGenerator<Piece> {
  try {
    yield* await open()
  } catch (error) {
    if (!reply.isWhole) throw call.toError(error)
  }
}

/** Both names for the most tokens of a reply: a server that does not know one of them knows the other. */
const LIMITS = ['max_tokens', 'max_completion_tokens'] as const

/** Returns a function that edits a request's body: it removes parameters, then adds the configured ones. */
function editOf(
  { body: added }: ModelEntry,
  without: readonly string[],
): ((body: Record<string, unknown>) => object) | undefined {
  if (!added && without.length === 0) return undefined
  return body => {
    const limit = LIMITS.map(name => body[name]).find(value => value !== undefined)
    const known = LIMITS.find(name => !without.includes(name))
    if (limit !== undefined && known && LIMITS.some(name => without.includes(name))) body[known] = limit
    for (const path of without) remove(body, path.split('.'))
    return { ...body, ...added }
  }
}

function remove(fields: unknown, [name, ...rest]: string[]): void {
  if (name === undefined || typeof fields !== 'object' || fields === null) return
  // Google says `generation_config` for what is sent as `generationConfig`.
  const key = name in fields ? name : name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  if (rest.length > 0) remove(Reflect.get(fields, key), rest)
  else Reflect.deleteProperty(fields, key)
}
