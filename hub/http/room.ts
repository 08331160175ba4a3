import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../core/clock.ts'

/** So many bodies whose sender is only known at their end are on their way at once; each is of the largest at most. */
const MOST_INSIDE = 16
/** None of them takes longer, milliseconds. */
const LONGEST_MS = 10_000

/** Bounds what those hold together who may turn out to be anybody. */
export interface Room {
  /**
   * Lets the body of this request in until it is read, or takes too long. Where too many are inside, one of them is cut
   * off: a real delivery is over in a moment, so that who stays is likelier a stranger than who comes.
   */
  enter(request: IncomingMessage, response: ServerResponse): void
}

interface Inside {
  address: string | undefined
}

export function createRoom(clock: Clock): Room {
  const inside = new Map<Inside, () => void>()
  return {
    enter(request, response) {
      const out = inside.size < MOST_INSIDE ? undefined : decideCut([...inside.keys()])
      if (out) inside.get(out)?.()
      const own = { address: request.socket.remoteAddress }
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

/** Of the address that has the most inside, the one that came first; they are in the order in which they came. */
export function decideCut<One extends Inside>(inside: readonly One[]): One | undefined {
  const byAddress = Map.groupBy(inside, ({ address }) => address)
  const [most] = [...byAddress.values()].sort((one, other) => other.length - one.length)
  return most?.[0]
}
