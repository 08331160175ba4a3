import type { Transaction } from 'kysely'
import { HubError } from '../core/errors.ts'
import type { Tables } from './tables.ts'

export type Tx = Transaction<Tables>

/**
 * Runs `job` in a transaction and resolves with its result once the commit is on the disk. A job that throws
 * is undone alone and rejects alone. A job touches only the database: it may run again.
 *
 * `relaxed` is for writes that follow from data on the disk and would be done again from it: their commit
 * survives the end of the process, and reaches the disk with the next one that is not relaxed.
 */
export type Write = <Result>(
  job: (tx: Tx) => Promise<Result>,
  durability?: 'disk' | 'relaxed',
) => Promise<Result>

/** Writes as `Write` does, and leaves nothing of what the job replaces or deletes in the store's files. */
export type WriteSecret = <Result>(job: (tx: Tx) => Promise<Result>) => Promise<Result>

/** The reason why a database does nothing that it is asked. */
export type FaultKind = 'full' | 'locked' | 'damaged' | 'unreachable'

/** A failure of the database, whatever it was asked: the write is not done, and may be done later. */
export class StoreFault extends HubError {
  readonly kind: FaultKind

  constructor(kind: FaultKind, message: string, options?: ErrorOptions) {
    super('unavailable', message, options)
    this.name = 'StoreFault'
    this.kind = kind
  }
}
