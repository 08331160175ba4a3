import { decideBackoff } from '../core/backoff.ts'
import { type Clock, sleep } from '../core/clock.ts'

/** Waits between attempts. */
const WAITS = { first: 1_000, longest: 30_000 }

export interface RevivalDeps {
  clock: Clock
  /** Tells whether the attempt worked; does not reject. */
  attempt(isFirst: boolean): Promise<boolean>
  /** Aborted when nobody wants the revival any more. */
  left: AbortSignal
}

/** Attempts something at once, and then ever more slowly, for as long as it takes. */
export interface Revival {
  /** Starts attempting; does nothing if it already does. */
  begin(): Promise<void>
  /**
   * Makes the next attempts quick again, since the result proved itself. Until then a success counts like a
   * failure.
   */
  proved(): void
}

export function createRevival({ clock, attempt, left }: RevivalDeps): Revival {
  let attempts = 0
  let isOn = false
  const pause = async () => {
    // A revival that nobody wants any more stops waiting.
    if (attempts > 0) await sleep(clock, decideBackoff(attempts, WAITS), left).catch(() => undefined)
  }
  return {
    async begin() {
      if (isOn) return
      isOn = true
      for (let worked = false; !worked && !left.aborted; ) {
        await pause()
        if (!left.aborted) worked = await attempt(attempts++ === 0)
      }
      isOn = false
    },
    proved() {
      attempts = 0
    },
  }
}
