import { sleep } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import type { Model, ModelReply, ModelRequest } from '../core/model.ts'
import { toSentence, toSpan } from '../core/text.ts'
import type { Claim } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { meterModel } from './limits/metered-model.ts'
import { tellRecovered } from './park.ts'
import { decideRetry } from './retry.ts'
import { tellNow } from './tell.ts'

interface Asking {
  /** Makes room in the model's context, and builds the request for it. */
  toRequest: (model: Model) => Promise<ModelRequest>
  signal: AbortSignal
}

/** A reply, with the model that gave it and the model's request. */
interface Asked {
  model: Model
  request: ModelRequest
  reply: ModelReply
}

/**
 * Asks until there is an answer: repeats by the kind of error, then takes the next model, and throws the last
 * ModelError. Each try takes the model that the config names at that time. People are told once of a failure
 * that lasts, and once of its end.
 */
export async function completeWithRetries(
  deps: RuntimeDeps,
  claim: Claim,
  { toRequest, signal }: Asking,
): Promise<Asked> {
  const onText = (text: string) => {
    if (claim.target === null) return
    deps.signals.emit('delta', { conversation: claim.target, cycle: claim.cycle, text })
  }
  const prepare = async (configured: Model) => {
    const model = meterModel(deps, claim, configured)
    return { configured, model, request: await toRequest(model) }
  }
  let attempt = await prepare(deps.model(claim.agent.model))
  for (let failures = 1; ; failures++) {
    const configured = deps.model(claim.agent.model)
    if (configured !== attempt.configured) {
      attempt = await prepare(configured)
      failures = 1
    }
    const { model, request } = attempt
    try {
      const reply = await model.complete(request, { signal, onText })
      await tellRecovered(deps, claim)
      return { model, request, reply }
    } catch (error) {
      signal.throwIfAborted()
      const wait = await prepareRepeat(deps, claim, error, failures)
      if (wait !== undefined) await sleep(deps.clock, wait, signal)
      else if (model.health?.giveUp(error)) failures = 0
      else throw error
    }
  }
}

/** Returns the milliseconds until the next try; undefined if there is none within the cycle's minutes. */
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
