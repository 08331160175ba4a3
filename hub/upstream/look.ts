import { type Clock, sleep } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { decideBackoff } from './backoff.ts'
import { type Loss, withDeadline } from './lost.ts'
import { PING_MS } from './silence.ts'

/** The most pings of one check: a gateway that was busy may be so for a moment longer. */
const MOST_PINGS = 3

export interface LookDeps {
  clock: Clock
  random: () => number
  log: Log
  /** Milliseconds that a call may take. */
  callTimeout: number
  /** Aborts when the connection ends. */
  signal: AbortSignal
  ping: (signal: AbortSignal) => Promise<unknown>
  decideLoss: (error: unknown) => Loss
  /** Called with the reason when the server no longer answers. */
  onLost: (error: unknown) => void
}

/** Checks whether a server still answers after a request left that in doubt; others go on meanwhile. */
export interface Look {
  begin(error: unknown): void
  /** Notes that another request was answered. */
  answered(): void
}

export function createLook(deps: LookDeps): Look {
  const { clock, signal } = deps
  let isLooking = false
  let isAnswered = false
  /** Pings once; returns undefined if the server answered, even with an error. */
  const ping = async (why: unknown): Promise<{ loss: Loss; error: unknown } | undefined> => {
    const limit = withDeadline(clock, Math.min(PING_MS, deps.callTimeout), signal)
    try {
      await deps.ping(limit.signal)
      return undefined
    } catch (error) {
      if (limit.signal.aborted) return { loss: 'in doubt', error: why }
      const loss = deps.decideLoss(error)
      return loss && { loss, error }
    } finally {
      limit.cancel()
    }
  }
  const look = async (first: unknown) => {
    let error = first
    for (let pings = 1; pings <= MOST_PINGS; pings++) {
      if (pings > 1) await sleep(clock, decideBackoff(pings - 1, deps.random), signal)
      const failure = await ping(error)
      if (!failure || signal.aborted) return
      error = failure.error
      if (failure.loss === 'lost') break
      if (isAnswered) return
    }
    deps.onLost(error)
  }
  return {
    begin(error) {
      if (isLooking || signal.aborted) return
      isLooking = true
      isAnswered = false
      look(error)
        .catch(cause => deps.log.debug('look_ended', { error: cause }))
        .finally(() => {
          isLooking = false
        })
    },
    answered() {
      isAnswered = true
    },
  }
}
