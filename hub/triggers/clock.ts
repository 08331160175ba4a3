import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Signals } from '../core/signals.ts'

/** Milliseconds until the clock checks again in any case: the system time may have jumped. */
const LONGEST_WAIT_MS = 60_000
const RETRY_MS = 1_000

/** Milliseconds within which the next turn comes if more is due than fires at once. */
const SPREAD_MS = 250

export interface ClockTriggerDeps {
  clock: Clock
  log: Log
  signals: Signals
  /** Returns the time at which the earliest is due; undefined if there is none. */
  nextDue: () => Promise<number | undefined>
  /** Posts what is due; returns true if it left something for another turn. */
  fire: () => Promise<boolean>
  /** Returns a number from 0 to 1. */
  random: () => number
}

/** Starts one timer for everything that has a time, set to the earliest; none while nothing has one. */
export async function startClockTrigger(deps: ClockTriggerDeps): Promise<AsyncDisposable> {
  let cancel: (() => void) | undefined
  let ended = false
  let arming: Promise<void> = Promise.resolve()
  // The next turn begins no earlier: agents that are due at one instant must not all start at once.
  let nextTurn = deps.clock.monotonic()

  const fire = async () => {
    if (ended) return
    const more = await deps.fire()
    if (more) nextTurn = deps.clock.monotonic() + deps.random() * SPREAD_MS
  }
  const arm = async () => {
    const due = await deps.nextDue()
    cancel?.()
    cancel = undefined
    if (due === undefined || ended) return
    const pause = nextTurn - deps.clock.monotonic()
    const wait = Math.min(Math.max(due - deps.clock.now(), pause), LONGEST_WAIT_MS)
    cancel = deps.clock.after(wait, () => rearm(due <= deps.clock.now()))
  }
  const rearm = (fireFirst: boolean) => {
    arming = arming
      .then(() => (fireFirst ? fire() : undefined))
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
    deps.signals.on('dueTimesChanged', again),
    deps.signals.on('approval', again),
  ]
  await fire()
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
