import { describeError } from '../core/errors.ts'
import type { ModelError } from '../core/model.ts'
import { toSentence } from '../core/text.ts'
import type { LetterError } from '../store/dead-letters.ts'
import type { Claim } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { fail } from './finish.ts'

/** What a cycle failed of for good. `retryable`: the same may succeed later. */
export interface Death {
  error: LetterError
  retryable: boolean
}

/**
 * The cycle goes to the dead letters: its calls get their results, everyone who waits is told once, its batch leaves
 * the window, and the thread is free for what comes next.
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

/** A provider's error as a dead letter keeps it. */
export function toDeath(error: ModelError): Death {
  const { kind, status } = error
  const message = describeError(error)
  return {
    error: { code: kind, ...(status === undefined ? {} : { status }), message },
    retryable: error.retryable,
  }
}

/** The hub crashed while the cycle ran alone, after so many crashes since its last step. */
export function toCrashed(crashes: number): Death {
  const message = `The hub ended ${crashes} times while I worked on this, the last time while nobody else worked, and without one step between`
  return { error: { code: 'crashed', message }, retryable: true }
}

/** Nobody foresaw it: the log says what. */
export const BROKEN: Death = {
  error: {
    code: 'internal',
    message: 'Something went wrong inside the hub while I worked on this; its log says what',
  },
  retryable: true,
}
