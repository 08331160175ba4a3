import { timeoutSignal } from '../core/clock.ts'
import { ModelError } from '../core/model.ts'
import { plural } from '../core/text.ts'
import { hasPersonWaiting } from '../store/inbox.ts'
import { hasEnded } from '../store/threads.ts'
import { act } from './act.ts'
import type { ActiveCycle } from './active-cycle.ts'
import {
  deadLetter,
  type Failure,
  fail,
  stopEndedTask,
  toCrashed,
  toFinalError,
  yieldToPerson,
} from './end-cycle.ts'
import { chargeCut } from './limits/account.ts'
import { deferCycle } from './limits/defer.ts'
import { LimitReached } from './limits/limit-reached.ts'
import { checkExcess, checkRepeats } from './limits/loops.ts'
import { decideAttempt } from './start-cycle.ts'
import type { StopRequested } from './stop.ts'
import { waitForProvider } from './suspend.ts'
import { type ThinkDeps, think } from './think.ts'
import { hasOpenCalls } from './window.ts'

type RunCycleDeps = ThinkDeps & Parameters<typeof act>[0]

/**
 * Runs a cycle to its end. What to do next follows from what is stored, so that a cycle which was cut by a
 * crash goes on from its last committed step. Throws when `stopping` aborts; the rest then waits for the next
 * start.
 */
export async function runCycle(deps: RunCycleDeps, cycle: ActiveCycle, stopping: AbortSignal): Promise<void> {
  if (decideAttempt(cycle.attempts) === 'dead') return deadLetter(cycle, toCrashed(cycle.attempts - 1))
  const left = cycle.startedAt + cycle.agent.limits.minutes * 60_000 - cycle.now()
  const deadline = timeoutSignal(deps.clock, left, 'The cycle')
  // The clock checks its sources again, as the watch ends a cycle that ignores this signal.
  deadline.signal.addEventListener('abort', () => cycle.signals.emit('dueTimesChanged', { why: 'minutes' }), {
    once: true,
  })
  try {
    await takeSteps(deps, cycle, stopping, AbortSignal.any([stopping, deadline.signal]))
  } catch (error) {
    stopping.throwIfAborted()
    if (cycle.stop.aborted) return await endStopped(cycle, cycle.stop.reason)
    if (error instanceof LimitReached) return await endAtLimit(deps, cycle, error)
    if (deadline.signal.aborted)
      return await endFailed(cycle, { ...describeMinutes(cycle), ...keepCut(cycle) })
    if (!(error instanceof ModelError)) throw error
    // The cycle waits for an unreachable provider: the batch is not at fault. Another error would come again.
    await (error.retryable ? waitForProvider(cycle, error) : deadLetter(cycle, toFinalError(error)))
  } finally {
    deadline.cancel()
  }
}

async function takeSteps(
  deps: RunCycleDeps,
  cycle: ActiveCycle,
  stopping: AbortSignal,
  signal: AbortSignal,
): Promise<void> {
  const thinking = AbortSignal.any([signal, cycle.stop])
  let next: 'think' | 'act' | 'ended' = hasOpenCalls(cycle.window) ? 'act' : 'think'
  if (cycle.wasCut && next === 'think') await chargeCut(deps, cycle)
  while (next !== 'ended') {
    stopping.throwIfAborted()
    if (cycle.agent.task && (await hasEnded(cycle.db, cycle.thread))) return await stopEndedTask(cycle)
    cycle.stop.throwIfAborted()
    const limit = next === 'think' ? decideLimit(cycle) : undefined
    if (limit) return await endFailed(cycle, limit)
    if (next === 'think' && (await mustYield(cycle))) return await yieldToPerson(cycle)
    await (next === 'act' ? checkExcess(cycle) : checkRepeats(cycle))
    next = next === 'act' ? await act(deps, cycle, signal) : await think(deps, cycle, thinking)
  }
}

/** Tells whether work of a lower power has made a step, and a person waits. */
async function mustYield({ db, power, steps, thread }: ActiveCycle): Promise<boolean> {
  return power !== 'person' && steps > 0 && (await hasPersonWaiting(db, thread))
}

function decideLimit(cycle: ActiveCycle): Failure | undefined {
  const { steps, minutes } = cycle.agent.limits
  if (cycle.steps >= steps) {
    return {
      kind: 'notice',
      text: `I stopped after ${plural(steps, 'step')}, the limit of one cycle. Raise limits.steps in agents/${cycle.agent.name}.md, or tell me to go on.`,
      data: { limit: 'limits.steps', value: steps, used: cycle.steps },
    }
  }
  return cycle.now() - cycle.startedAt >= minutes * 60_000 ? describeMinutes(cycle) : undefined
}

function describeMinutes({ agent }: ActiveCycle): Failure {
  const { minutes } = agent.limits
  return {
    kind: 'notice',
    text: `I stopped after ${plural(minutes, 'minute')}, the limit of one cycle. Raise limits.minutes in agents/${agent.name}.md, or tell me to go on.`,
    data: { limit: 'limits.minutes', value: minutes, used: minutes },
  }
}

/** Keeps what was streamed of a reply when the minutes were over, for people and in the history. */
function keepCut({ account: { cutText: partial } }: ActiveCycle): Pick<Failure, 'partial' | 'note'> {
  return partial === '' ? {} : { partial, note: '[My time was over here.]' }
}

/** Ends a cycle at a limit of its own, and defers it at a limit of the day. */
async function endAtLimit(deps: RunCycleDeps, cycle: ActiveCycle, limit: LimitReached): Promise<void> {
  const { until, message: text, data } = limit
  if (until === undefined) return endFailed(cycle, { kind: 'notice', text, data })
  await deferCycle(deps, cycle, limit, until)
}

async function endFailed(cycle: ActiveCycle, failure: Failure): Promise<void> {
  cycle.log.warn('cycle_failed', { cycle: cycle.id, thread: cycle.thread, why: failure.text })
  const { task } = cycle.agent
  // The text names the task: "tell me to go on" would reach the main thread, which has other work.
  const text = task ? `The task ${task.id} was stopped: ${failure.text}` : failure.text
  await fail(cycle, { givesBack: true, ...failure, text })
}

/** Ends a cycle that a person stopped: the text streamed so far is kept, and every call has its result. */
async function endStopped(cycle: ActiveCycle, { by }: StopRequested): Promise<void> {
  cycle.log.info('cycle_stopped', { cycle: cycle.id, thread: cycle.thread, by })
  await fail(cycle, {
    kind: 'notice',
    status: 'stopped',
    text: `I was stopped by ${by}. Write again to have me go on.`,
    data: { stoppedBy: by },
    partial: cycle.account.cutText,
    note: `[${by} stopped me here.]`,
    givesBack: true,
  })
}
