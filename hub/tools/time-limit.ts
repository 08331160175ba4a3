import type { Clock } from '../core/clock.ts'

/** A time limit that begins anew with every sign of life, and stands still while somebody else is waited for. */
export interface TimeLimit {
  touch(): void
  /** Stops it until the returned function is called. */
  hold(): () => void
  clear(): void
}

export function createTimeLimit(clock: Clock, milliseconds: number, onOver: () => void): TimeLimit {
  let holds = 0
  let touched = clock.monotonic()
  let cancel: (() => void) | undefined
  const arm = (delay: number) => {
    cancel = clock.after(delay, () => {
      const left = touched + milliseconds - clock.monotonic()
      if (left > 0) arm(left)
      else onOver()
    })
  }
  arm(milliseconds)
  return {
    touch() {
      touched = clock.monotonic()
    },
    hold() {
      if (holds++ === 0) cancel?.()
      return () => {
        if (--holds > 0) return
        touched = clock.monotonic()
        arm(milliseconds)
      }
    },
    clear() {
      holds = Number.MAX_SAFE_INTEGER
      cancel?.()
    },
  }
}
