import type { Clock } from './clock.ts'

/**
 * Timers of one delay, nearly all of which are cancelled before they fire: a single timer of the clock serves
 * them all. Disposing cancels that timer.
 */
export interface Deadlines extends Disposable {
  /** Calls `run` once after the delay, unless the returned function is called before. */
  set(run: () => void): () => void
}

/**
 * An element of a linked list that is ordered by time, since all deadlines wait equally long. The list is not
 * a `Set`: the tables that a `Set` outgrew keep their contents alive until the next full collection.
 */
interface Deadline {
  due: number
  run: () => void
  before: Deadline | undefined
  after: Deadline | undefined
  isSet: boolean
}

/** Creates deadlines of `delay` milliseconds. */
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
