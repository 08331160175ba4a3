import { type Clock, sleep } from '../core/clock.ts'

/** Between attempts: doubling. */
const FIRST_MS = 1_000
const LONGEST_MS = 30_000

export interface RevivalDeps {
  clock: Clock
  /** Whether it worked; does not reject. */
  attempt(isFirst: boolean): Promise<boolean>
  /** Nobody wants it any more. */
  left: AbortSignal
}

/** Attempts something at once, and then ever more slowly, for as long as it takes. */
export interface Revival {
  /** Does nothing where it is at it already. */
  begin(): Promise<void>
  /** It proved itself: the next attempts are quick again. Until then one that worked counts like one that did not. */
  proved(): void
}

export function createRevival({ clock, attempt, left }: RevivalDeps): Revival {
  let attempts = 0
  let isOn = false
  const pause = async () => {
    const wait = Math.min(LONGEST_MS, FIRST_MS * 2 ** (attempts - 1))
    // Who leaves waits no longer.
    if (attempts > 0) await sleep(clock, wait, left).catch(() => undefined)
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
