import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { createBucket } from '../core/rate-limit.ts'
import { record } from '../store/audit-log.ts'
import type { Store } from '../store/open.ts'

/** Wrong tokens that are recorded, of all addresses together. */
const WRONG_TOKENS = { perSecond: 1 / 10, burst: 100 }

/** Returns a function that records wrong tokens, but not so many that a flood of them fills the disk. */
export function createWrongRecord({ store, clock, log }: { store: Store; clock: Clock; log: Log }) {
  const mayRecord = createBucket(WRONG_TOKENS)
  return ({ door, address }: { door: string; address: string }) => {
    if (!mayRecord(clock.monotonic())) return
    const details = { door, address }
    store
      .write(tx =>
        record(tx, { at: clock.now(), kind: 'sign_in', actor: 'unknown', outcome: 'refused', details }),
      )
      .catch(error => log.warn('wrong_token_not_recorded', { error }))
  }
}
