import { ModelError } from '../../core/model.ts'
import { toSpan } from '../../core/text.ts'
import type { CallWatch } from './call-watch.ts'
import type { Answer } from './post.ts'
import { describeProvider, type Provider } from './provider-error.ts'
import { brokenStream, type ReplyReader } from './reply.ts'
import { findCoded } from './send-error.ts'
import { createSseParser, createWholeParser, type EventParser } from './sse.ts'

/** What may follow a whole reply (its usage; the end of the connection) is waited for only so long, milliseconds. */
const AFTER_FINISH = 2_000
const AFTER_DONE = 100

interface ReadOptions {
  provider: Provider
  watch: CallWatch
  /** Milliseconds between two pieces of the stream; comments that keep it alive count. */
  idleTimeoutMs: number
}

/**
 * Feeds an answer to `reply` until its stream ends. Throws a ModelError where it breaks before the reply is whole,
 * and the watch's reason where that aborts.
 */
export async function readReply(answer: Answer, reply: ReplyReader, options: ReadOptions): Promise<void> {
  const { provider, watch, idleTimeoutMs } = options
  const parser = createParser(answer, provider)
  const decoder = new TextDecoder()
  const chunks: AsyncIterator<Buffer> = answer.body[Symbol.asyncIterator]()
  const read = async () => {
    const delay = { open: idleTimeoutMs, finished: AFTER_FINISH, done: AFTER_DONE }[reply.stage]
    watch.within(delay, () => idleError(provider, delay))
    return chunks.next()
  }
  for (;;) {
    const chunk = await read().catch(error => endOrThrow(error, reply, options))
    const ended = !chunk || chunk.done
    for (const event of ended ? parser.end() : parser.push(decoder.decode(chunk.value, { stream: true }))) {
      reply.take(event)
    }
    reply.show()
    if (ended) return
  }
}

/** A whole reply is not lost to what goes wrong after it. */
function endOrThrow(error: unknown, reply: ReplyReader, { provider, watch }: ReadOptions): undefined {
  if (reply.stage !== 'open') return undefined
  if (watch.signal.aborted) throw watch.signal.reason
  const coded = findCoded(error)
  throw brokenStream(provider, `broke off the reply${coded ? ` (${coded.code})` : ''}`, coded)
}

function idleError(provider: Provider, delay: number): ModelError {
  return new ModelError('network', `${describeProvider(provider)} sent nothing for ${toSpan(delay)}.`)
}

function createParser({ type }: Answer, provider: Provider): EventParser {
  if (type.includes('text/html')) {
    throw new ModelError(
      'rejected',
      `${describeProvider(provider)} answered with a web page. Check OPENAI_BASE_URL (most end in /v1).`,
    )
  }
  return type.includes('application/json') ? createWholeParser() : createSseParser()
}
