import { describeError } from '../core/errors.ts'
import type { ModelError } from '../core/model.ts'
import { toSentence } from '../core/text.ts'
import type { LetterError } from '../store/dead-letters.ts'
import type { Claim } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { fail } from './finish.ts'

/** The error with which a cycle failed for good. `retryable`: a later try may succeed. */
export interface Death {
  error: LetterError
  retryable: boolean
}

/**
 * Dead-letters the cycle: its calls get their results, everyone who waits is told once, its batch leaves the
 * window, and the thread is free for what comes next.
 */
export async function bury(deps: RuntimeDeps, claim: Claim, { error, retryable }: Death): Promise<void> {
  const id = deps.newId('dl')
  const reason = toSentence(error.message)
  const text = `${reason} This failed for good and lies in the dead letters; retry it with: superbloom dead-letters retry ${id} (or discard it).`
  const attempts = claim.failures ? { attempt: claim.failures, of: claim.failures } : {}
  deps.log.error('cycle_dead', { cycle: claim.cycle, thread: claim.thread, deadLetter: id, why: reason })
  await fail(deps, claim, {
    kind: 'error',
    text,
    data: { ...attempts, retryable: false, deadLetter: id },
    letter: { id, reason, error, retryable },
  })
  claim.outcome = 'dead'
}

/** Returns a provider's error as a dead letter keeps it. */
export function toDeath(error: ModelError): Death {
  const { kind, status } = error
  const message = describeError(error)
  return {
    error: { code: kind, ...(status === undefined ? {} : { status }), message },
    retryable: error.retryable,
  }
}

/**
 * Returns the error for a cycle that ran alone when the hub crashed, one of `crashes` since its last step.
 */
export function toCrashed(crashes: number): Death {
  const message = `The hub ended ${crashes} times while I worked on this, the last time while nobody else worked, and without one step between`
  return { error: { code: 'crashed', message }, retryable: true }
}

/** The error of a failure that nobody foresaw; the log describes it. */
export const BROKEN: Death = {
  error: {
    code: 'internal',
    message: 'Something went wrong inside the hub while I worked on this; its log says what',
  },
  retryable: true,
}
