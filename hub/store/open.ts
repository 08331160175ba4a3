import type { Kysely } from 'kysely'
import { HubError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import { backUpBeforeMigration } from './backup.ts'
import { lockFolder, openSqliteStore } from './sqlite.ts'
import type { OnCommit } from './sqlite-writer.ts'
import { describeLoss, findLoss, wasUsed } from './store-loss.ts'
import type { Tables } from './tables.ts'
import type { Write, WriteSecret } from './writer.ts'

/** The store: reads go through `db`, writes through `write`. Its opener disposes of it. */
export interface Store extends AsyncDisposable {
  readonly db: Kysely<Tables>
  readonly write: Write
  readonly writeSecret: WriteSecret
  /** Rewrites the files so that nothing deleted is left in them. Takes as long as to copy them. */
  compact(): Promise<void>
  /** Returns why nothing can be stored, for people; undefined if that is not known. */
  findProblem(): string | undefined
}

/**
 * Locks a data folder and opens its store; `stack` closes both. Throws `conflict` if the store lost its
 * contents, unless that is accepted.
 */
export async function openOwnStore(
  folder: string,
  { acceptLoss, log, onCommit }: { acceptLoss: boolean; log: Log; onCommit?: OnCommit },
  stack: AsyncDisposableStack,
): Promise<Store> {
  const used = wasUsed(folder)
  stack.use(lockFolder(folder))
  const loss = findLoss(folder, used)
  if (loss) {
    const why = describeLoss(folder, loss)
    if (!acceptLoss) throw new HubError('conflict', why)
    log.warn('store_loss_accepted', { why })
  }
  const onMarkFault = (error: unknown) => log.warn('store_mark_not_written', { error })
  return stack.use(await openStore(folder, onMarkFault, onCommit))
}

/**
 * Opens the store of a data folder and brings its schema up to date; a store that holds something is backed
 * up before. `onMarkFault` is called if the store's mark cannot be written. Throws if opening fails, and
 * `conflict` for a store of a newer version; nothing stays open.
 */
export async function openStore(
  folder: string,
  onMarkFault: (error: unknown) => void = () => undefined,
  onCommit?: OnCommit,
): Promise<Store> {
  await backUpBeforeMigration(folder)
  return openSqliteStore(folder, onMarkFault, onCommit)
}
