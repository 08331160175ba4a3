import type { Clock } from '../../schemas/clock.ts'

export { type Clock, sleep, systemClock } from '../../schemas/clock.ts'

/**
 * Converts "2026-11-22T04:36:47.123456789Z" (RFC 3339) or a date, which begins in UTC, to unix milliseconds;
 * undefined for any other text and for the year 1, which Go and .NET write for no time.
 */
export function parseTime(text: string | null | undefined): number | undefined {
  const at = /^(?!0001)\d{4}-\d\d-\d\d(T|$)/.test(text ?? '') ? Date.parse(text ?? '') : Number.NaN
  return Number.isNaN(at) ? undefined : at
}

/** Converts "Sun, 22 Nov 2026 04:36:47 GMT" (RFC 9110, 5.6.7) to unix milliseconds; undefined for other texts. */
export function parseHttpDate(text: string): number | undefined {
  const at = /^\s*\w{3}, .* GMT\s*$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : at
}

/** Converts unix milliseconds to "2026-11-22T04:36:47.123Z", for protocols. */
export function toIsoTime(at: number): string {
  return new Date(at).toISOString()
}

/**
 * Resolves as `work` does, or rejects with the signal's reason as soon as it aborts: for work that cannot be
 * stopped itself. The outcome of `work` after the abort is ignored.
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/** Returns a signal that aborts with a TimeoutError after `delay` milliseconds; `cancel` frees its timer. */
export function timeoutSignal(clock: Clock, delay: number): { signal: AbortSignal; cancel: () => void } {
  const controller = new AbortController()
  const cancel = clock.after(delay, () =>
    controller.abort(new DOMException(`no answer within ${Math.round(delay / 1000)} s`, 'TimeoutError')),
  )
  return { signal: controller.signal, cancel }
}

/**
 * Returns the milliseconds to wait after the `failures`-th failure in a row (from 1): doubling from `first`
 * up to `longest`, plus or minus a fifth, so that many callers do not come at once. `random` is 0 up to 1.
 */
export function decideBackOff(failures: number, first: number, longest: number, random: number): number {
  const delay = Math.min(first * 2 ** Math.min(failures - 1, 30), Math.max(first, longest))
  return Math.round(delay * (0.8 + 0.4 * random))
}

/**
 * Resolves as `work` does within `milliseconds`; rejects as it does, with a TimeoutError, or with the
 * signal's reason.
 */
export async function withLimit<Result>(
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
