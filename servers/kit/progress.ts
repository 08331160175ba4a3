import type { Clock } from './clock.ts'

/** Milliseconds between two notifications. */
const PACE = 200

/**
 * Sends progress to the client: `done` of `total`, in any unit, with a short text. `done` must grow; other
 * reports are ignored. It may be called at any rate, and does nothing if the client did not request progress.
 */
export type Report = (done: number, total?: number, message?: string) => void

export interface ProgressNote {
  progress: number
  total?: number | undefined
  message?: string | undefined
}

/**
 * Creates a reporter that sends at most five notes a second; the last one is always sent. `send` never
 * rejects.
 */
export function createReporting(
  send: ((note: ProgressNote) => Promise<void>) | undefined,
  clock: Clock,
): { report: Report; finish(): Promise<void> } {
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
      waiting = { progress: done, total, message }
      if (!cancel) flush()
    },
    /** Sends the waiting note, and resolves when all were sent; later reports are ignored. */
    async finish() {
      finished = true
      flush()
      await sent
    },
  }
}
