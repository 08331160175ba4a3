import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client'
import type { ForwardOptions } from '../core/forwarding.ts'

/** A request in flight that a server's question may belong to. */
interface Askable {
  options: ForwardOptions
}

export interface Asking<Request extends Askable> {
  /** The requests that have somebody to ask, the newest at the end. */
  inFlight: readonly Request[]
  /** The requests that wait for an answer to a question, the one asked last at the end. */
  waiting: readonly Request[]
  /** The principals of cancelled requests that the server has not answered yet. */
  left: readonly string[]
  /** True if the server serves one session only. */
  isOwn: boolean
}

/**
 * Returns the request that a question belongs to if the transport does not tell. All requests in flight must
 * be of one principal, since a question that reached another one would disclose what is none of its business.
 * Throws if there may be several; returns undefined for roots then, and if nobody can be asked.
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
 * Returns the requests of one principal that a question may belong to. If equal keys may be two clients,
 * these are the requests that do not wait for an answer yet or, if all wait, the one asked last.
 */
function mayAsk<Request extends Askable>({ inFlight, waiting, isOwn }: Asking<Request>): readonly Request[] {
  if (!inFlight.some(one => isUnsure(one, isOwn))) return inFlight.slice(-1)
  const free = inFlight.filter(one => !waiting.includes(one))
  return free.length > 0 ? free : waiting.filter(one => inFlight.includes(one)).slice(-1)
}

/**
 * Tells whether equal keys may be two clients: those that repeat their requests have no session, and two with
 * the same name cannot be told apart.
 */
export function isUnsure({ options: { asker } }: Askable, isOwn: boolean): boolean {
  return asker?.repeats === true && !isOwn
}
