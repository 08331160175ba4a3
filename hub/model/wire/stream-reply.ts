import type { Clock } from '../../core/clock.ts'
import { type Begun, ModelError, type ModelReply, type ModelUsage } from '../../core/model.ts'
import type { Adapter, AskOptions, ModelEntry } from '../adapter.ts'
import type { ShapedRequest } from '../form/form.ts'
import { editOf, familyOf, timeoutOf } from './entry.ts'
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
      timeout: timeoutOf(entry),
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
