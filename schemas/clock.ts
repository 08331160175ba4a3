/** The clock is the only part that reads the system's time or sets a timer. Times are unix milliseconds. */
export interface Clock {
  /** Returns the time of day, unix milliseconds; it may jump. */
  now(): number
  /** Returns milliseconds that only ever grow, for measuring; their zero means nothing. */
  monotonic(): number
  /** Calls `run` once after `delay` milliseconds, unless the returned function is called before. */
  after(delay: number, run: () => void): () => void
}

/** Longest delay in milliseconds that a timer of the platform can hold. */
export const MAX_DELAY = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delay, run) {
    const timer = setTimeout(run, Math.min(Math.max(delay, 0), MAX_DELAY))
    return () => clearTimeout(timer)
  },
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
