import type { Clock } from '../core/clock.ts'
import type { DueSource } from '../core/due.ts'
import { plural } from '../core/text.ts'
import type { ActiveCycle } from './active-cycle.ts'
import { fail } from './end-cycle.ts'

/** Milliseconds after its minutes are over at which a cycle that still runs is stopped from outside. */
const GRACE_MS = 5 * 60_000

/** Stops cycles that do not stop by themselves. */
export interface CycleWatch extends DueSource {
  /** Resolves when the cycle has ended, or was stopped while `run` goes on: its later writes are refused. */
  guard(cycle: ActiveCycle, run: Promise<void>): Promise<void>
}

interface Guarded {
  release(): void
  /** The cycle under the fence with which it is ended; null if another process has its thread. */
  seized?: ActiveCycle | null
}

export function createCycleWatch(clock: Pick<Clock, 'now'>): CycleWatch {
  const guarded = new Map<ActiveCycle, Guarded>()
  const dueAt = ({ startedAt, agent }: ActiveCycle) => startedAt + agent.limits.minutes * 60_000 + GRACE_MS
  return {
    async guard(cycle, run) {
      const stopped = Promise.withResolvers<void>()
      guarded.set(cycle, { release: stopped.resolve })
      try {
        await Promise.race([run, stopped.promise])
      } finally {
        guarded.delete(cycle)
        run.catch(error => cycle.log.debug('cycle_settled', { cycle: cycle.id, error }))
      }
    },
    async nextDue() {
      const times = [...guarded.keys()].map(dueAt)
      return times.length > 0 ? Math.min(...times) : undefined
    },
    async fire() {
      for (const [cycle, entry] of guarded) {
        if (dueAt(cycle) > clock.now()) continue
        // If the stop cannot be written, the cycle stays guarded, and is stopped at the next check.
        if (entry.seized === undefined) entry.seized = (await cycle.seize()) ?? null
        if (entry.seized) await stop(entry.seized)
        guarded.delete(cycle)
        entry.release()
      }
    },
  }
}

/** Ends the cycle with what is known. */
async function stop(cycle: ActiveCycle): Promise<void> {
  const minutes = plural(cycle.agent.limits.minutes, 'minute')
  const text = `I made no step for 5 minutes beyond my limit of ${minutes}, and was stopped. Whatever I waited for may still have happened: check it, then tell me to go on.`
  cycle.log.error('cycle_stuck', { cycle: cycle.id, thread: cycle.thread })
  await fail(cycle, { kind: 'notice', text })
}
