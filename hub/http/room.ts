import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../core/clock.ts'

/** So many bodies whose sender is only known at their end are on their way at once; each is of the largest at most. */
const MOST_INSIDE = 16
/** None of them takes longer, milliseconds: who sends slowly would keep others out. */
const LONGEST_MS = 10_000

/** Bounds what those hold together who may turn out to be anybody. */
export interface Room {
  /** False where there is none for the body of this request; else it is taken until that is read, or takes too long. */
  enter(request: IncomingMessage, response: ServerResponse): boolean
}

export function createRoom(clock: Clock): Room {
  let inside = 0
  return {
    enter(request, response) {
      if (inside >= MOST_INSIDE) return false
      inside++
      const { promise: out, resolve: leave } = Promise.withResolvers<void>()
      const cancel = clock.after(LONGEST_MS, () => request.destroy())
      request.once('end', leave)
      response.once('close', leave)
      void out.then(() => {
        cancel()
        inside--
      })
      return true
    },
  }
}
