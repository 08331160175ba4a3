import type { Clock } from '../core/clock.ts'
import { readVerdict, saveVerdict } from '../store/hub-state.ts'
import type { Store } from '../store/open.ts'
import type { EraMemory } from './connect.ts'
import { specHash } from './server-spec.ts'

/**
 * Milliseconds after which a server is probed again: an upgraded one would answer in the old way for ever.
 */
const TRUSTED_MS = 24 * 3_600_000

/**
 * Creates a memory of legacy servers and their transport, so that the next start does not probe them. A
 * modern server is probed each time: it answers in one round trip, and what it advertises may change.
 */
export function createEraMemory(store: Store, clock: Clock): EraMemory {
  return {
    async read(spec) {
      const found = await readVerdict(store.db, specHash(spec))
      if (!found || clock.now() - found.at > TRUSTED_MS) return 'auto'
      return found.verdict === 'legacy' || found.verdict === 'sse' ? found.verdict : 'auto'
    },
    async save(spec, verdict) {
      await store.write(tx => saveVerdict(tx, specHash(spec), { verdict, at: clock.now() }))
    },
  }
}
