import type { Deadlines } from '../core/deadlines.ts'

/** A time limit that begins anew with every sign of life, and pauses while somebody else is waited for. */
export interface TimeLimit {
  touch(): void
  /** Pauses the limit until the returned function is called. */
  hold(): () => void
  clear(): void
}

/** Starts a time limit with the delay of `deadlines`. */
export function createTimeLimit(deadlines: Deadlines, onOver: () => void): TimeLimit {
  let holds = 0
  let cancel = deadlines.set(onOver)
  const begin = () => {
    cancel()
    if (holds === 0) cancel = deadlines.set(onOver)
  }
  return {
    touch: begin,
    hold() {
      holds++
      cancel()
      return () => {
        holds--
        begin()
      }
    },
    clear() {
      holds = Number.MAX_SAFE_INTEGER
      cancel()
    },
  }
}
