import { decideBackOff } from '../../kit/clock.ts'
import { toFailure } from '../../kit/failure.ts'
import { UpstreamFailure } from '../../kit/upstream/failure.ts'
import type { RowFailure } from './row.ts'

const FIRST_DELAY = 5_000
const LONGEST_DELAY = 15 * 60_000
/** Milliseconds for which a message is retried. */
const GIVE_UP_AFTER = 24 * 3_600_000
/** Statuses of a gateway, which may have passed the message on before it failed. */
const GATEWAY = [502, 504]

export type Outcome =
  | { kind: 'failed'; failure: RowFailure }
  /** `isDoubtful`: the message may have arrived nevertheless. */
  | { kind: 'retry'; due: number; failure: RowFailure; isDoubtful: boolean }

/**
 * Decides what happens to a message after a failed try. `attempts` includes this try; `random` is 0 up to 1.
 */
export function decideOutcome(
  error: unknown,
  facts: { now: number; triedAt: number; attempts: number; random: number },
): Outcome {
  const { now, triedAt, attempts, random } = facts
  const failure: RowFailure = { ...toFailure(error, 'The channel') }
  if (!(error instanceof UpstreamFailure)) return { kind: 'failed', failure }
  failure.kind = error.kind
  if (!error.transient) return { kind: 'failed', failure }
  if (now - triedAt >= GIVE_UP_AFTER) {
    const fix = `It was tried ${attempts} times in 24 hours and is given up. ${failure.fix} Then send it again.`
    return { kind: 'failed', failure: { ...failure, fix } }
  }
  const delay = decideBackOff(attempts, FIRST_DELAY, LONGEST_DELAY, random)
  const due = now + Math.max(delay, Math.min(error.retryAfter ?? 0, GIVE_UP_AFTER))
  return { kind: 'retry', due, failure, isDoubtful: mayHaveArrived(error) }
}

function mayHaveArrived({ kind, unsent, status }: UpstreamFailure): boolean {
  if (unsent) return false
  return kind === 'timeout' || kind === 'unreachable' || GATEWAY.includes(status ?? 0)
}
