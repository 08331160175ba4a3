import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../core/clock.ts'
import { type AddressOf, networkOf } from './address.ts'

/** Bodies that may arrive at once; each is of its door's largest at most. */
const MOST_INSIDE = 16
/** Milliseconds that such a body may take. */
const LONGEST_MS = 10_000

/** Bounds the bodies that arrive at once: of senders that may be anybody, and where bodies are large. */
export interface Room {
  /**
   * Admits the body of this request until it is read, or takes too long. If too many are inside, one of them
   * is cut off: a real delivery is over in a moment, so a sender that stays is likelier a stranger than a new
   * one.
   */
  enter(request: IncomingMessage, response: ServerResponse): void
}

interface Inside {
  network: string
}

export function createRoom(clock: Clock, addressOf: AddressOf): Room {
  const inside = new Map<Inside, () => void>()
  return {
    enter(request, response) {
      const out = inside.size < MOST_INSIDE ? undefined : decideCut([...inside.keys()])
      if (out) inside.get(out)?.()
      const own = { network: networkOf(addressOf(request)) }
      const leave = () => {
        cancel()
        inside.delete(own)
      }
      const cut = () => {
        leave()
        request.destroy()
      }
      const cancel = clock.after(LONGEST_MS, cut)
      inside.set(own, cut)
      request.once('end', leave)
      response.once('close', leave)
    },
  }
}

/** Returns the oldest body of the network that has the most inside; `inside` is in the order of arrival. */
export function decideCut<One extends Inside>(inside: readonly One[]): One | undefined {
  const byNetwork = Map.groupBy(inside, ({ network }) => network)
  const [most] = [...byNetwork.values()].sort((one, other) => other.length - one.length)
  return most?.[0]
}
