/** Time and timers, which tests replace. */
export interface Clock {
  now(): number
  /** Runs it after `delay` milliseconds; the returned function cancels that. */
  after(delay: number, run: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delay, run) {
    const timer = setTimeout(run, Math.max(0, delay))
    return () => clearTimeout(timer)
  },
}
