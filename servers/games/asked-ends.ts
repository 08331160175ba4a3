import type { Clock } from '../kit/clock.ts'

/** Milliseconds for which an end that was asked for may still be noticed: a watcher looks only now and then. */
const NOTICED_WITHIN = 20_000

/** Which games were asked to end by a tool, so that their end is no crash. */
export interface AskedEnds {
  /** While `work` stops the game, and shortly after, one end of it was asked for. */
  during<Result>(game: string, work: () => Promise<Result>): Promise<Result>
  /** Whether the end that was just noticed was asked for. True once for each. */
  take(game: string): boolean
  /** It was seen to have ended as asked, or to run again: the next end is another one. */
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
