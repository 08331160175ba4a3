import type { Clock } from '../core/clock.ts'
import type { DueSource } from '../core/due.ts'
import type { Store } from '../store/open.ts'
import { archiveEnded, earliestEnded } from '../store/threads.ts'

/** Milliseconds after its end until a task is archived. */
const KEPT_MS = 15 * 24 * 60 * 60_000

/** Archives tasks that ended long ago; their history stays. */
export function createArchive({ store, clock }: { store: Store; clock: Clock }): DueSource {
  return {
    async nextDue() {
      const first = await earliestEnded(store.db)
      return first === undefined ? undefined : first + KEPT_MS
    },
    async fire() {
      await store.write(tx => archiveEnded(tx, clock.now() - KEPT_MS, clock.now()))
    },
  }
}
