import { type Clock, timeoutSignal, unlessAborted } from '../kit/clock.ts'

/**
 * Resolves as `work` does within `milliseconds`; rejects as it does, with a TimeoutError, or with the
 * signal's reason.
 */
export async function bounded<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  milliseconds: number,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<Result> {
  const limit = timeoutSignal(clock, milliseconds)
  const either = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal
  try {
    either.throwIfAborted()
    return await unlessAborted(work(either), either)
  } finally {
    limit.cancel()
  }
}
