import { type Clock, timeoutSignal, unlessAborted } from '../../kit/clock.ts'

/**
 * What `run` resolves to. Its signal aborts with the caller's, or with a TimeoutError after `limit` milliseconds; then it
 * rejects at once with the signal's reason, whatever `run` still does.
 */
export async function withLimit<T>(
  { clock, limit, signal }: { clock: Clock; limit: number; signal?: AbortSignal | undefined },
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = timeoutSignal(clock, limit)
  const both = signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal
  try {
    both.throwIfAborted()
    return await unlessAborted(run(both), both)
  } finally {
    timeout.cancel()
  }
}
