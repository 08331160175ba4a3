import { type Begun, ModelError, type ModelOptions, type ModelReply } from '../../core/model.ts'
import { describeProvider, type Provider } from '../openai/provider-error.ts'
import type { WireCall } from './wire-call.ts'

/** What may follow a whole reply (its usage; the end of the connection) is waited for only so long, milliseconds. */
const AFTER_FINISH = 2_000
/** Characters: a provider that writes more than these for each token that it may write does not keep to its limit. */
const LONGEST_TOKEN = 8
/**
 * Characters, about 100,000 tokens. Alibaba's limit on a reply does not count its thoughts, which may have 81,920 tokens
 * (https://help.aliyun.com/zh/model-studio/deep-thinking).
 */
const LONGEST_THOUGHT = 400_000

/** Puts the reply together from what a package gives piece by piece. */
export interface ReplyReader<Piece> {
  /** Throws a ModelError for an error within the stream. What `onText` throws passes through. */
  take(piece: Piece): void
  /** Characters of its texts and arguments so far. */
  readonly written: number
  /** Characters of its thoughts so far. */
  readonly thought: number
  /** Its reason to end came. */
  readonly isWhole: boolean
  /** What of the reply is there; undefined where none of it is. */
  readonly begun: Begun | undefined
  /** The reply, once the stream has ended. Throws a ModelError where its reason to end means that there is none. */
  finish(): ModelReply
}

/**
 * Reads a stream to its end. Throws a ModelError where there is no whole reply, with what of it had begun, and the
 * signal's reason when aborted. A whole reply is not lost to what goes wrong after it.
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

/** What the package gives; what it throws is translated, and nothing that is thrown while a piece is read. */
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
