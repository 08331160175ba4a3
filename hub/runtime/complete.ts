import { sleep } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import type { Model, ModelReply, ModelRequest } from '../core/model.ts'
import { toSentence, toSpan } from '../core/text.ts'
import type { Claim } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { tellRecovered } from './park.ts'
import { decideRetry } from './retry.ts'
import { tellNow } from './tell.ts'

export interface Attempt {
  model: Model
  request: ModelRequest
  signal: AbortSignal
}

/**
 * Asks until there is an answer: repeats by the kind of error, then the next model, and throws the last ModelError. A
 * failure that lasts is told once, and its end too.
 */
export async function completeWithRetries(
  deps: RuntimeDeps,
  claim: Claim,
  attempt: Attempt,
): Promise<ModelReply> {
  const onText = (text: string) => {
    if (claim.target === null) return
    deps.signals.emit('delta', { conversation: claim.target, cycle: claim.cycle, text })
  }
  for (let failures = 1; ; failures++) {
    try {
      const reply = await attempt.model.complete(attempt.request, { signal: attempt.signal, onText })
      await tellRecovered(deps, claim)
      return reply
    } catch (error) {
      attempt.signal.throwIfAborted()
      const wait = await prepareRepeat(deps, claim, error, failures)
      if (wait !== undefined) await sleep(deps.clock, wait, attempt.signal)
      else if (attempt.model.health?.giveUp(error)) failures = 0
      else throw error
    }
  }
}

/** How long to wait before the next try, milliseconds; undefined where there is none within the cycle's minutes. */
async function prepareRepeat(
  deps: RuntimeDeps,
  claim: Claim,
  error: unknown,
  failures: number,
): Promise<number | undefined> {
  const decision = decideRetry(error, failures, deps.random)
  claim.failures = decision.attempt
  if (decision.kind === 'give_up') return undefined
  const { wait, of, tell } = decision
  const retryAt = deps.clock.now() + wait
  if (retryAt >= claim.startedAt + claim.agent.limits.minutes * 60_000) return undefined
  deps.log.warn('model_failed', { error, attempt: failures, of, retryInMs: wait })
  if (!tell || claim.toldFailure || claim.parkedAt !== null) return wait
  claim.toldFailure = true
  await tellNow(deps, claim, {
    kind: 'error',
    text: `${toSentence(describeError(error))} I try again in ${toSpan(wait)} (${failures} of ${of}).`,
    data: { attempt: failures, of, retryAt, retryable: true },
  })
  return wait
}
