import { decideBackoff } from '../core/backoff.ts'
import { type Clock, sleep } from '../core/clock.ts'

const WAITS = { first: 1_000, longest: 30_000 }

interface RevivalDeps {
  clock: Clock
  /** Tells whether the attempt worked; does not reject. */
  attempt(isFirst: boolean): Promise<boolean>
  /** Aborted when nobody wants the revival any more. */
  left: AbortSignal
}

/** Creates attempts at something: one at once, and then ever more slowly, for as long as it takes. */
export function createRevival({ clock, attempt, left }: RevivalDeps) {
  let attempts = 0
  let isOn = false
  const pause = async () => {
    // A revival that nobody wants any more stops waiting.
    if (attempts > 0) await sleep(clock, decideBackoff(attempts, WAITS), left).catch(() => undefined)
  }
  return {
    /** Starts attempting; does nothing if it already does. */
    async begin(): Promise<void> {
      if (isOn) return
      isOn = true
      for (let worked = false; !worked && !left.aborted; ) {
        await pause()
        if (!left.aborted) worked = await attempt(attempts++ === 0)
      }
      isOn = false
    },
    /**
     * Makes the next attempts quick again, since the result proved itself. Until then a success counts like a
     * failure.
     */
    proved(): void {
      attempts = 0
    },
  }
}
