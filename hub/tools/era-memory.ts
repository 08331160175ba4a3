import type { Clock } from '../core/clock.ts'
import type { Store } from '../store/open.ts'
import { readVerdict, saveVerdict } from '../store/server-eras.ts'
import type { EraMemory } from './connect.ts'
import { specHash } from './server-spec.ts'

/** A server may be upgraded, and would answer in the old way for ever: after this long it is probed again. */
const TRUSTED_MS = 24 * 3_600_000

/**
 * Remembers which servers are legacy ones, and over which transport, so that the next start does not probe them. A modern server answers its
 * probe in one round trip, and what it advertises may change, so it is asked each time.
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
