import type { DueSource } from '../core/due.ts'
import { plural } from '../core/text.ts'
import { seizeThread } from '../store/threads.ts'
import type { Claim } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { fail } from './finish.ts'

/** Milliseconds after its minutes are over at which a cycle that still runs is stopped from outside. */
const GRACE_MS = 5 * 60_000

/** Stops cycles that do not stop by themselves. */
export interface CycleWatch extends DueSource {
  /** Resolves when the cycle has ended, or was stopped while `run` goes on: its later writes are refused. */
  guard(claim: Claim, run: Promise<void>): Promise<void>
}

export function createCycleWatch(deps: RuntimeDeps): CycleWatch {
  const guarded = new Map<Claim, () => void>()
  const dueAt = ({ startedAt, agent }: Claim) => startedAt + agent.limits.minutes * 60_000 + GRACE_MS
  return {
    async guard(claim, run) {
      const stopped = Promise.withResolvers<void>()
      guarded.set(claim, stopped.resolve)
      try {
        await Promise.race([run, stopped.promise])
      } finally {
        guarded.delete(claim)
        run.catch(error => deps.log.debug('cycle_settled', { cycle: claim.cycle, error }))
      }
    },
    async nextDue() {
      const times = [...guarded.keys()].map(dueAt)
      return times.length > 0 ? Math.min(...times) : undefined
    },
    async fire() {
      for (const [claim, release] of guarded) {
        if (dueAt(claim) > deps.clock.now()) continue
        // If the stop cannot be written, the cycle stays guarded, and is stopped at the next check.
        await stop(deps, claim)
        guarded.delete(claim)
        release()
      }
    },
  }
}

/** Takes the thread from its cycle, then ends the cycle with what is known. May be called again. */
async function stop(deps: RuntimeDeps, claim: Claim): Promise<void> {
  claim.seized ??= await deps.store.write(tx => seizeThread(tx, claim.thread, claim.fence))
  claim.outcome = 'stuck'
  const fence = claim.seized
  if (fence === undefined) return
  const minutes = plural(claim.agent.limits.minutes, 'minute')
  const text = `I made no step for 5 minutes beyond my limit of ${minutes}, and was stopped. Whatever I waited for may still have happened: check it, then tell me to go on.`
  deps.log.error('cycle_stuck', { cycle: claim.cycle, thread: claim.thread })
  await fail(deps, { ...claim, fence, window: [...claim.window] }, { kind: 'notice', text })
}
