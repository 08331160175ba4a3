import type { Clock } from '../kit/clock.ts'

/** Milliseconds after a stop in which its end may still be noticed: watchers poll only now and then. */
const NOTICED_WITHIN = 20_000

/** The games that a tool ends, so that their end is not reported as a crash. */
export interface AskedEnds {
  /** Runs `work`, which stops the game: one end during it, or shortly after, counts as requested. */
  during<Result>(game: string, work: () => Promise<Result>): Promise<Result>
  /** Tells whether the end that was just noticed was requested. True once for each request. */
  take(game: string): boolean
  /** Forgets the request after the game ended as requested, or runs again: the next end is another one. */
  settle(game: string): void
}

export function createAskedEnds(clock: Clock): AskedEnds {
  const asked = new Map<string, { until: number }>()
  return {
    async during(game, work) {
      const mark = { until: Number.POSITIVE_INFINITY }
      asked.set(game, mark)
      try {
        return await work()
      } finally {
        mark.until = clock.monotonic() + NOTICED_WITHIN
      }
    },
    settle(game) {
      if (asked.get(game)?.until !== Number.POSITIVE_INFINITY) asked.delete(game)
    },
    take(game) {
      const mark = asked.get(game)
      asked.delete(game)
      return mark !== undefined && clock.monotonic() <= mark.until
    },
  }
}
