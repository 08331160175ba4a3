import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { createBuckets } from '../core/rate-limit.ts'
import { type AuditEntry, record } from './audit-log.ts'
import type { Store } from './open.ts'

/** Refused acts of one actor and kind that are recorded. All callers without a right token are one actor. */
const REFUSED = { perSecond: 1 / 60, burst: 50 }

/** Adds to the audit what happens at the hub's doors and belongs to no transaction. */
export interface DoorAudit {
  /** Adds a row; resolves once it is on the disk. */
  add(entry: Omit<AuditEntry, 'at'>): Promise<void>
  /** Adds a row of what was refused, but not so many that a flood of them fills the disk. */
  refuse(entry: Omit<AuditEntry, 'at' | 'outcome'>): void
}

export function createDoorAudit(deps: { store: Pick<Store, 'write'>; clock: Clock; log: Log }): DoorAudit {
  const { store, clock, log } = deps
  const mayRecord = createBuckets(REFUSED)
  return {
    add: entry => store.write(tx => record(tx, { ...entry, at: clock.now() })),
    refuse(entry) {
      if (!mayRecord(`${entry.kind} ${entry.actor}`, clock.monotonic())) return
      const row = { ...entry, at: clock.now(), outcome: 'refused' }
      store
        .write(tx => record(tx, row), 'relaxed')
        .catch(error => log.warn('refusal_not_recorded', { error }))
    },
  }
}
