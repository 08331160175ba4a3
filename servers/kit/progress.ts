import type { Clock } from './clock.ts'

/** Milliseconds between two notifications. */
const PACE = 200

/**
 * Tells the client how far long work is: `done` of `total`, in any unit, with a short text. `done` must grow; what does
 * not is left out. Call it as often as you like. Nothing happens where the client did not ask for it.
 */
export type Report = (done: number, total?: number, message?: string) => void

export interface ProgressNote {
  progress: number
  total?: number
  message?: string
}

export interface Reporting {
  report: Report
  /** Sends what waits, and resolves when all was sent; later reports are ignored. */
  finish(): Promise<void>
}

/** At most five notes a second; the last one is always sent. `send` never rejects. */
export function createReporting(
  send: ((note: ProgressNote) => Promise<void>) | undefined,
  clock: Clock,
): Reporting {
  let sent: Promise<unknown> = Promise.resolve()
  let waiting: ProgressNote | undefined
  let cancel: (() => void) | undefined
  let highest = Number.NEGATIVE_INFINITY
  let finished = send === undefined

  const flush = () => {
    cancel?.()
    cancel = undefined
    const note = waiting
    waiting = undefined
    if (!note || !send) return
    sent = Promise.all([sent, send(note)])
    if (!finished) cancel = clock.after(PACE, flush)
  }
  return {
    report(done, total, message) {
      if (finished || !(done > highest)) return
      highest = done
      waiting = {
        progress: done,
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message }),
      }
      if (!cancel) flush()
    },
    async finish() {
      finished = true
      flush()
      await sent
    },
  }
}
