import type { HistoryEntry } from '../store/history.ts'
import type { ThreadRow } from '../store/tables.ts'

/** So many threads that ran last have their window in memory, and no window of more entries: never more than a few MB. */
const MOST_WINDOWS = 32
const MOST_ENTRIES = 500

/**
 * The windows of the threads that ran last, so that one who talks on does not have them read and checked anew. A kept
 * one counts only where the thread's row shows that nobody has written since.
 */
export interface KeptWindows {
  keep(thread: string, fence: number, window: HistoryEntry[]): void
  /** The window up to before the `reserved` places that the claim of `row` took; hands it over. */
  take(row: ThreadRow, reserved: number): HistoryEntry[] | undefined
}

export function createKeptWindows(): KeptWindows {
  const kept = new Map<string, { fence: number; window: HistoryEntry[] }>()
  return {
    keep(thread, fence, window) {
      kept.delete(thread)
      if (window.length > MOST_ENTRIES) return
      kept.set(thread, { fence, window })
      for (const oldest of kept.keys()) {
        if (kept.size <= MOST_WINDOWS) break
        kept.delete(oldest)
      }
    },
    take(row, reserved) {
      const found = kept.get(row.id)
      kept.delete(row.id)
      if (!found || found.fence !== row.fence - 1) return undefined
      const { window } = found
      const isWhole = window[0]?.seq === row.window_start && window.at(-1)?.seq === row.last_seq - reserved
      return isWhole ? window : undefined
    },
  }
}
