/** The only place in servers/ that reads the system's time or sets a timer. Times are unix milliseconds. */
export interface Clock {
  /** The time of day, unix milliseconds; may jump. */
  now(): number
  /** Milliseconds that only ever grow, for measuring; their zero is arbitrary. */
  monotonic(): number
  /** Calls `run` once after `delay` milliseconds, unless the returned function is called before. */
  after(delay: number, run: () => void): () => void
}

/** The longest delay in milliseconds that a timer of the platform can hold. */
const MAX_DELAY = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delay, run) {
    const timer = setTimeout(run, Math.min(Math.max(delay, 0), MAX_DELAY))
    return () => clearTimeout(timer)
  },
}

/**
 * Converts "2026-11-22T04:36:47.123456789Z" (RFC 3339) to unix milliseconds; undefined for any other text and
 * for times before 1970.
 */
export function parseTime(text: string): number | undefined {
  const at = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN
  return at > 0 ? at : undefined
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

/** Resolves after `delay` milliseconds; rejects with the signal's reason when it aborts before. */
export function sleep(clock: Clock, delay: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const onAbort = () => {
      cancel()
      reject(signal?.reason)
    }
    const cancel = clock.after(delay, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
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
