import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Signals } from '../core/signals.ts'

/** However far the next schedule is, the clock looks again after this long: the time of day may have jumped. */
const LONGEST_WAIT_MS = 60_000
const RETRY_MS = 1_000

export interface ClockTriggerDeps {
  clock: Clock
  log: Log
  signals: Signals
  /** When the earliest is due; undefined where nothing is. */
  nextDue: () => Promise<number | undefined>
  /** Posts everything that is due. */
  fire: () => Promise<unknown>
}

/** One timer for all that has a time, set to the earliest that is due; none while there is nothing. */
export async function startClockTrigger(deps: ClockTriggerDeps): Promise<AsyncDisposable> {
  let cancel: (() => void) | undefined
  let ended = false
  let arming: Promise<void> = Promise.resolve()

  const arm = async () => {
    const due = await deps.nextDue()
    cancel?.()
    cancel = undefined
    if (due === undefined || ended) return
    const wait = Math.min(due - deps.clock.now(), LONGEST_WAIT_MS)
    cancel = deps.clock.after(wait, () => rearm(due <= deps.clock.now()))
  }
  const rearm = (fireFirst: boolean) => {
    arming = arming
      .then(() => (fireFirst && !ended ? deps.fire() : undefined))
      .then(arm)
      .catch(error => {
        deps.log.error('clock_failed', { error })
        cancel?.()
        if (!ended) cancel = deps.clock.after(RETRY_MS, () => rearm(true))
      })
  }
  const again = () => rearm(false)
  const offs = [
    deps.signals.on('schedules', again),
    deps.signals.on('due', again),
    deps.signals.on('approval', again),
  ]
  await deps.fire()
  await arm()
  return {
    async [Symbol.asyncDispose]() {
      ended = true
      for (const off of offs) off()
      cancel?.()
      await arming
    },
  }
}
