import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client'
import type { ForwardOptions } from '../core/forwarding.ts'

/** A request that a question may belong to. */
interface Askable {
  options: ForwardOptions
}

export interface Asking<Request extends Askable> {
  /** Those with somebody to ask, the newest at the end. */
  inFlight: readonly Request[]
  /** Those that wait for an answer to a question, the one asked last at the end. */
  waiting: readonly Request[]
  /** The parties of requests that were given up, and that the server has not answered yet. */
  left: readonly string[]
  /** The server is one session's alone. */
  isOwn: boolean
}

/**
 * Whose question it is where the transport does not tell: all requests in flight must be of one party, since a question
 * that reaches somebody else would show them what is none of their business. Throws where they may be of several;
 * undefined for roots then, and where nobody can be asked.
 */
export function decideAsked<Request extends Askable>(
  method: string,
  asking: Asking<Request>,
): Request | undefined {
  const parties = new Set([...asking.inFlight.map(({ options }) => options.asker?.key), ...asking.left])
  const [found, ...others] = mayAsk(asking)
  if (parties.size <= 1 && others.length === 0) return found
  if (method === 'roots/list') return undefined
  throw new ProtocolError(
    ProtocolErrorCode.InternalError,
    'Several calls at once may be of different parties, and this server does not say which of them it asks. Set isolated: true in its entry to give each party its own process.',
  )
}

/**
 * Those of one party's requests that a question may belong to. Where equal keys may be two clients it is one that does
 * not wait for an answer already; where all wait, who was asked last is asked once more.
 */
function mayAsk<Request extends Askable>({ inFlight, waiting, isOwn }: Asking<Request>): readonly Request[] {
  if (!inFlight.some(one => isUnsure(one, isOwn))) return inFlight.slice(-1)
  const free = inFlight.filter(one => !waiting.includes(one))
  return free.length > 0 ? free : waiting.filter(one => inFlight.includes(one)).slice(-1)
}

/** Clients that repeat their requests have no session: two that call themselves alike cannot be told apart. */
export function isUnsure({ options: { asker } }: Askable, isOwn: boolean): boolean {
  return asker?.repeats === true && !isOwn
}
