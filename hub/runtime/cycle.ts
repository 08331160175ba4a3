import { ModelError } from '../core/model.ts'
import { plural } from '../core/text.ts'
import { hasEnded } from '../store/threads.ts'
import { act } from './act.ts'
import { bury, toCrashed, toDeath } from './bury.ts'
import type { Claim } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { type Failure, fail, stopEndedTask } from './finish.ts'
import { holdCycle } from './hold-cycle.ts'
import { LimitReached } from './limits/limit-reached.ts'
import { checkExcess, checkRepeats } from './limits/loops.ts'
import { chargeCut } from './limits/metered-model.ts'
import { park } from './park.ts'
import { endStopped } from './stop.ts'
import { decideAttempt } from './suspects.ts'
import { cycleDeadline, think } from './think.ts'
import { hasOpenCalls } from './window.ts'

/**
 * Runs a claimed cycle to its end. What to do next follows from what is stored, so that a cycle which was cut
 * by a crash goes on from its last committed step. Throws when `stopping` aborts; the rest then waits for the
 * next start.
 */
export async function runCycle(deps: RuntimeDeps, claim: Claim, stopping: AbortSignal): Promise<void> {
  if (decideAttempt(claim.attempts) === 'dead') return bury(deps, claim, toCrashed(claim.attempts - 1))
  const deadline = cycleDeadline(deps, claim)
  claim.deadline = deadline
  // The clock checks its sources again, as the watch ends a cycle that ignores this signal.
  deadline.signal.addEventListener('abort', () => deps.signals.emit('dueTimesChanged', { why: 'minutes' }), {
    once: true,
  })
  const signal = AbortSignal.any([stopping, deadline.signal])
  const thinking = claim.stop ? AbortSignal.any([signal, claim.stop]) : signal
  try {
    let next: 'think' | 'act' | 'ended' = hasOpenCalls(claim.window) ? 'act' : 'think'
    if (claim.wasCut && next === 'think') await chargeCut(deps, claim)
    while (next !== 'ended') {
      stopping.throwIfAborted()
      if (claim.agent.task && (await hasEnded(deps.store.db, claim.thread)))
        return await stopEndedTask(deps, claim)
      claim.stop?.throwIfAborted()
      const limit = next === 'think' ? decideLimit(claim, deps.clock.now()) : undefined
      if (limit) return await end(deps, claim, limit)
      await (next === 'act' ? checkExcess(deps, claim) : checkRepeats(deps, claim))
      next = next === 'act' ? await act(deps, claim, signal) : await think(deps, claim, thinking)
    }
  } catch (error) {
    stopping.throwIfAborted()
    if (claim.stop?.aborted) return await endStopped(deps, claim, claim.stop.reason)
    if (error instanceof LimitReached && error.until !== undefined)
      return await holdCycle(deps, claim, error, error.until)
    if (error instanceof LimitReached)
      return await end(deps, claim, {
        kind: 'notice',
        text: error.message,
        data: error.data,
      })
    if (deadline.signal.aborted)
      return await end(deps, claim, { ...describeMinutes(claim), ...keepCut(claim) })
    if (!(error instanceof ModelError)) throw error
    // The cycle waits for an unreachable provider: the batch is not at fault. Another error would come again.
    await (error.retryable ? park(deps, claim, error) : bury(deps, claim, toDeath(error)))
  } finally {
    deadline.cancel()
  }
}

function decideLimit(claim: Claim, now: number): Failure | undefined {
  const { steps, minutes } = claim.agent.limits
  if (claim.steps >= steps) {
    return {
      kind: 'notice',
      text: `I stopped after ${plural(steps, 'step')}, the limit of one cycle. Raise limits.steps in agents/${claim.agent.name}.md, or tell me to go on.`,
      data: { limit: 'limits.steps', value: steps, used: claim.steps },
    }
  }
  return now - claim.startedAt >= minutes * 60_000 ? describeMinutes(claim) : undefined
}

function describeMinutes(claim: Claim): Failure {
  const { minutes } = claim.agent.limits
  return {
    kind: 'notice',
    text: `I stopped after ${plural(minutes, 'minute')}, the limit of one cycle. Raise limits.minutes in agents/${claim.agent.name}.md, or tell me to go on.`,
    data: { limit: 'limits.minutes', value: minutes, used: minutes },
  }
}

/** Keeps what was streamed of a reply when the minutes were over, for people and in the history. */
function keepCut({ cutText: partial = '' }: Claim): Pick<Failure, 'partial' | 'note'> {
  return partial === '' ? {} : { partial, note: '[My time was over here.]' }
}

async function end(deps: RuntimeDeps, claim: Claim, failure: Failure): Promise<void> {
  deps.log.warn('cycle_failed', { cycle: claim.cycle, thread: claim.thread, why: failure.text })
  const { task } = claim.agent
  // The text names the task: "tell me to go on" would reach the main thread, which has other work.
  const text = task ? `The task ${task.id} was stopped: ${failure.text}` : failure.text
  await fail(deps, claim, { givesBack: true, ...failure, text })
}
