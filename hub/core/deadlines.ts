import type { Clock } from './clock.ts'

/**
 * Timers of one delay, nearly all of which are cancelled before they fire: one timer of the clock stands for all.
 * Disposing cancels that.
 */
export interface Deadlines extends Disposable {
  /** Calls `run` once after the delay, unless the returned function is called before. */
  set(run: () => void): () => void
}

interface Deadline {
  due: number
  run: () => void
}

/** `delay` in milliseconds. */
export function createDeadlines(clock: Clock, delay: number): Deadlines {
  // In the order of their times, since all wait equally long.
  const waiting = new Set<Deadline>()
  let cancel: (() => void) | undefined
  const arm = (from: number) => {
    const [first] = waiting
    cancel = first && clock.after(first.due - from, fire)
  }
  const fire = () => {
    const now = clock.monotonic()
    for (const deadline of waiting) {
      if (deadline.due > now) break
      waiting.delete(deadline)
      deadline.run()
    }
    arm(now)
  }
  return {
    set(run) {
      const now = clock.monotonic()
      const deadline = { due: now + delay, run }
      waiting.add(deadline)
      if (!cancel) arm(now)
      return () => void waiting.delete(deadline)
    },
    [Symbol.dispose]() {
      cancel?.()
      waiting.clear()
    },
  }
}
