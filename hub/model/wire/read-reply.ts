import { type Begun, ModelError, type ModelOptions, type ModelReply } from '../../core/model.ts'
import { describeProvider, type Provider } from '../openai/provider-error.ts'
import type { WireCall } from './wire-call.ts'

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
  /** The part of the reply that came so far; undefined where nothing came. */
  readonly begun: Begun | undefined
  /**
   * Returns the reply, once the stream has ended. Throws a ModelError where its reason to end means that
   * there is none.
   */
  finish(): ModelReply
}

/**
 * Reads a stream to its end. Throws a ModelError where there is no whole reply, with the part that had begun,
 * and the signal's reason when aborted. An error after a whole reply does not lose the reply.
 */
export async function readReply<Piece>(
  call: WireCall,
  signal: AbortSignal,
  reply: ReplyReader<Piece>,
  open: () => PromiseLike<AsyncIterable<Piece>>,
  { provider, maxOutput, onCut }: Pick<ModelOptions, 'onCut'> & { provider: Provider; maxOutput: number },
): Promise<ModelReply> {
  try {
    for await (const piece of piecesOf(call, reply, open)) {
      reply.take(piece)
      if (reply.written > maxOutput * LONGEST_TOKEN || reply.thought > LONGEST_THOUGHT)
        throw overlong(provider, maxOutput)
      if (reply.isWhole) call.patience = AFTER_FINISH
    }
    signal.throwIfAborted()
    if (!reply.isWhole && !call.isClosed) throw call.toError()
    return reply.finish()
  } catch (error) {
    if (error instanceof ModelError) error.begun = reply.begun
    else if (signal.aborted && reply.begun) onCut?.(reply.begun)
    throw error
  }
}

function overlong(provider: Provider, maxOutput: number): ModelError {
  return new ModelError(
    'rejected',
    `${describeProvider(provider)} wrote far more than the ${maxOutput} tokens that a reply may have, and was cut off. It does not keep to the limit that it is sent.`,
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
