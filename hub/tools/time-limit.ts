import type { Deadlines } from '../core/deadlines.ts'

/** A time limit that begins anew with every sign of life, and stands still while somebody else is waited for. */
export interface TimeLimit {
  touch(): void
  /** Stops it until the returned function is called. */
  hold(): () => void
  clear(): void
}

/** Begins a time limit as long as the deadlines are. */
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
