/** @type {import('./types.d.ts').Clock} */
export const systemClock = {
  now: () => Date.now(),
  after(delay, run) {
    const timer = setTimeout(run, Math.max(0, delay))
    return () => clearTimeout(timer)
  },
}
