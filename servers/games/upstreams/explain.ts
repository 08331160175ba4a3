import { describeError } from '../../kit/log.ts'
import { cleanText, toSpanText } from '../../kit/text.ts'
import { type FailureFacts, UpstreamFailure } from '../../kit/upstream/failure.ts'

/** The request in the words of a failure. */
export interface Spoken {
  /** Subject of a sentence: "The query", "The console". */
  what: string
  /** The address: "q3a at 127.0.0.1:27960". */
  where: string
  /** Time limit in milliseconds. */
  limit: number
  /** Advice if it does not answer. */
  fix: string
}

/**
 * Converts an error of a socket, a name's resolution or a time limit to a failure; an UpstreamFailure stays
 * as it is.
 */
export function explainWire({ what, where, limit, fix }: Spoken, error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error
  const say = (kind: FailureFacts['kind'], why: string, transient = true) =>
    new UpstreamFailure({ kind, what: `${what} failed.`, where, why, fix, transient })
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return say('timeout', `no answer within ${limit < 1000 ? `${limit} ms` : toSpanText(limit / 1000)}`)
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const words = cleanText(describeError(error))
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return say('unreachable', `the host's name could not be resolved (${code})`)
  }
  if (code === 'ECONNREFUSED') return say('unreachable', `nothing listens there (${code})`)
  if (code !== '') return say('unreachable', `the connection failed (${code})`)
  return say('unexpected', words === '' ? 'the answer made no sense' : words, false)
}
