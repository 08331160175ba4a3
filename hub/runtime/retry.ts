import { decideBackoff } from '../core/backoff.ts'
import { ModelError, type ModelErrorKind } from '../core/model.ts'

/** Repeats that come at once, whichever of the kinds below the error has. */
const IMMEDIATE = 2
const IMMEDIATE_MS = 1_500
const WAITS = { first: 10_000, longest: 10 * 60_000 }

/** Repeats with a growing wait, by the kind of error; a kind that is not listed is never repeated. */
const REPEATS: Partial<Record<ModelErrorKind, number>> = {
  rate_limit: 5,
  network: 3,
  server: 2,
  broken_stream: 2,
}

export type RetryDecision =
  | { kind: 'give_up'; attempt: number }
  /** `tell`: the wait is long enough that people should know. */
  | { kind: 'retry'; wait: number; attempt: number; of: number; tell: boolean }

/** Decides what to do after the `failures`th failure (from 1) of a model call. Waits are milliseconds. */
export function decideRetry(error: unknown, failures: number, random: () => number): RetryDecision {
  const repeats = error instanceof ModelError ? REPEATS[error.kind] : undefined
  if (repeats === undefined) return { kind: 'give_up', attempt: failures }
  const of = IMMEDIATE + repeats
  if (failures > of) return { kind: 'give_up', attempt: failures }
  const asked = error instanceof ModelError ? error.retryAfter : undefined
  const own = failures <= IMMEDIATE ? IMMEDIATE_MS : decideBackoff(failures - IMMEDIATE, WAITS, random)
  const wait = Math.min(WAITS.longest, Math.max(own, asked ?? 0))
  return { kind: 'retry', wait, attempt: failures, of, tell: wait > 5_000 }
}
