import type { ThreadRow } from '../store/tables.ts'
import type { Claim } from './claim.ts'

/** Most windows in memory, of the threads that ran last, and entries of one: never more than a few MB. */
const MOST_WINDOWS = 32
const MOST_ENTRIES = 500

export type KeptWindow = Pick<Claim, 'fence' | 'start' | 'window' | 'anchor'>

/**
 * Keeps the windows of the threads that ran last, so that they are not read and checked anew. A kept window
 * counts only if the thread's row shows that nobody has written since.
 */
export interface KeptWindows {
  /** Keeps the window of a cycle that ended. */
  keep(thread: string, window: KeptWindow): void
  /** Hands over the window before the `reserved` history rows that the claim of `row` took. */
  take(row: ThreadRow, reserved: number): KeptWindow | undefined
}

export function createKeptWindows(): KeptWindows {
  const kept = new Map<string, KeptWindow>()
  return {
    keep(thread, { fence, start, window, anchor }) {
      kept.delete(thread)
      if (window.length > MOST_ENTRIES) return
      kept.set(thread, { fence, start, window, anchor })
      for (const oldest of kept.keys()) {
        if (kept.size <= MOST_WINDOWS) break
        kept.delete(oldest)
      }
    },
    take(row, reserved) {
      const found = kept.get(row.id)
      kept.delete(row.id)
      if (!found || found.fence !== row.fence - 1) return undefined
      const isNewest = found.window.at(-1)?.seq === row.last_seq - reserved
      return isNewest && found.start === row.window_start ? found : undefined
    },
  }
}
