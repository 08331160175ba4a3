import type { Clock } from './clock.ts'

/**
 * Timers of one delay, nearly all of which are cancelled before they fire: one timer of the clock stands for all.
 * Disposing cancels that.
 */
export interface Deadlines extends Disposable {
  /** Calls `run` once after the delay, unless the returned function is called before. */
  set(run: () => void): () => void
}

/**
 * One of a list in the order of their times, since all wait equally long. It is no `Set`: tables that a `Set` outgrew
 * keep what was in them alive until the next full collection.
 */
interface Deadline {
  due: number
  run: () => void
  before: Deadline | undefined
  after: Deadline | undefined
  isSet: boolean
}

/** `delay` in milliseconds. */
export function createDeadlines(clock: Clock, delay: number): Deadlines {
  let first: Deadline | undefined
  let last: Deadline | undefined
  let cancel: (() => void) | undefined
  let isDisposed = false

  const remove = (deadline: Deadline) => {
    const { before, after } = deadline
    if (!deadline.isSet) return
    deadline.isSet = false
    if (before) before.after = after
    else first = after
    if (after) after.before = before
    else last = before
    deadline.before = undefined
    deadline.after = undefined
  }
  const arm = (from: number) => {
    cancel = first && clock.after(first.due - from, fire)
  }
  const fire = () => {
    const now = clock.monotonic()
    for (let due = first; due && due.due <= now; due = first) {
      remove(due)
      due.run()
    }
    arm(now)
  }
  return {
    set(run) {
      const now = clock.monotonic()
      const deadline = { due: now + delay, run, before: last, after: undefined, isSet: true }
      if (last) last.after = deadline
      else first = deadline
      last = deadline
      if (!cancel && !isDisposed) arm(now)
      return () => remove(deadline)
    },
    [Symbol.dispose]() {
      isDisposed = true
      cancel?.()
      first = undefined
      last = undefined
    },
  }
}
