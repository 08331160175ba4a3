import { describeError } from '../core/errors.ts'
import { ModelError } from '../core/model.ts'
import { plural, toSentence } from '../core/text.ts'
import { act } from './act.ts'
import type { Claim } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { type Failure, fail } from './finish.ts'
import { cycleDeadline, think } from './think.ts'
import { hasOpenCalls } from './window.ts'

/**
 * Runs a claimed cycle to its end. What to do next follows from what is stored, so that a cycle which was cut by a
 * crash goes on from its last committed step. Throws when `stopping` aborts; the rest then waits for the next start.
 */
export async function runCycle(deps: RuntimeDeps, claim: Claim, stopping: AbortSignal): Promise<void> {
  const deadline = cycleDeadline(deps, claim)
  const signal = AbortSignal.any([stopping, deadline.signal])
  try {
    let next: 'think' | 'act' | 'ended' = hasOpenCalls(claim.window) ? 'act' : 'think'
    while (next !== 'ended') {
      stopping.throwIfAborted()
      const limit = next === 'think' ? decideLimit(claim, deps.clock.now()) : undefined
      if (limit) return await end(deps, claim, { kind: 'notice', text: limit })
      next = next === 'act' ? await act(deps, claim, signal) : await think(deps, claim, signal)
    }
  } catch (error) {
    stopping.throwIfAborted()
    if (deadline.signal.aborted)
      return await end(deps, claim, { kind: 'notice', text: describeMinutes(claim) })
    if (!(error instanceof ModelError)) throw error
    await end(deps, claim, {
      kind: 'error',
      text: `${toSentence(describeError(error))} I gave up on this for now; nothing is lost: write again to have me go on.`,
      data: { retryable: error.retryable },
    })
  } finally {
    deadline.cancel()
  }
}

function decideLimit(claim: Claim, now: number): string | undefined {
  const { steps, minutes } = claim.agent.limits
  if (claim.steps >= steps) {
    return `I stopped after ${plural(steps, 'step')}, the limit of one cycle. Raise limits.steps in agents/${claim.agent.name}.md, or tell me to go on.`
  }
  return now - claim.startedAt >= minutes * 60_000 ? describeMinutes(claim) : undefined
}

function describeMinutes(claim: Claim): string {
  const { minutes } = claim.agent.limits
  return `I stopped after ${plural(minutes, 'minute')}, the limit of one cycle. Raise limits.minutes in agents/${claim.agent.name}.md, or tell me to go on.`
}

async function end(deps: RuntimeDeps, claim: Claim, failure: Failure): Promise<void> {
  deps.log.warn('cycle_failed', { cycle: claim.cycle, thread: claim.thread, why: failure.text })
  await fail(deps, claim, failure)
}
