import type { Kysely } from 'kysely'
import { HubError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import { backUpBeforeMigration } from './backup.ts'
import type { OnCommit } from './group-writer.ts'
import { readCopyMark, readMovedTo, saveMovedTo } from './hub-state.ts'
import type { openPostgresStore } from './postgres.ts'
import { toShownAddress } from './postgres-address.ts'
import type { LeadOptions } from './postgres-lease.ts'
import { lockFolder, openSqliteStore, openSqliteToRead } from './sqlite.ts'
import { databaseFile } from './sqlite-backup.ts'
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
  /** Returns what holds the store, and the bytes that it takes there. */
  measure(): Promise<{ kind: string; bytes: number }>
  /** Returns why nothing can be stored, for people; undefined if that is not known. */
  findProblem(): string | undefined
  /**
   * Resolves if the store is still this hub's alone. Whatever cannot be undone and is not in the store, such as a call of
   * a model or of a tool, is preceded by it. Throws StoreFault.
   */
  confirm(): Promise<void>
}

/** Place of a hub's store. */
export interface StorePlace {
  /** The data folder, which holds the store unless `url` names a database. */
  folder: string
  /** Address of PostgreSQL. */
  url?: string | undefined
}

interface Opening {
  log: Log
  /** True to go on with a store that lost its contents. */
  acceptLoss: boolean
  onCommit?: OnCommit
  /** How the hub takes part in who leads, where several share a store. */
  lead: LeadOptions
}

/**
 * Locks a data folder and opens its hub's store, once the hub leads where several share it; `stack` closes both.
 * Throws `conflict` if the store lost its contents, or if they are in another one, unless that is accepted.
 */
export async function openOwnStore(
  place: StorePlace,
  opening: Opening,
  stack: AsyncDisposableStack,
): Promise<Store> {
  const store = await openStoreOf(place, opening, stack)
  if ((await readCopyMark(store.db)) !== undefined)
    throw new HubError(
      'conflict',
      `${describePlace(place)}: a copy into this store was cut. Go on with it: superbloom migrate`,
    )
  const moved = await readMovedTo(store.db)
  if (moved === undefined) return store
  const text = `What ${describePlace(place)} holds was moved to ${moved}. Start with that store; or go on with what is here: superbloom start --accept-loss`
  if (!opening.acceptLoss) throw new HubError('conflict', text)
  await store.write(tx => saveMovedTo(tx, undefined))
  return store
}

/** Opens a store, whatever became of its contents. */
export async function openStoreOf(
  { folder, url }: StorePlace,
  { log, acceptLoss, onCommit, lead }: Opening,
  stack: AsyncDisposableStack,
): Promise<Store> {
  const used = wasUsed(folder)
  stack.use(lockFolder(folder))
  if (url !== undefined) return stack.use(await openPostgres(url, lead, onCommit))
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

/** Returns where a store is, without a password, for people. */
export function describePlace({ folder, url }: StorePlace): string {
  return url === undefined ? `SQLite, ${databaseFile(folder)}` : `PostgreSQL, ${toShownAddress(url)}`
}

/** Opens a store for reading, as it is; the opener destroys it. Throws `not_found`, and `conflict` for another version's. */
export async function openStoreToRead({ folder, url }: StorePlace): Promise<Kysely<Tables>> {
  if (url === undefined) return openSqliteToRead(folder)
  const { openPostgresToRead } = await import('./postgres.ts')
  return openPostgresToRead(url)
}

/** Opens the store of a database in PostgreSQL, of which nothing is loaded where it is not used. */
export async function openPostgres(...opening: Parameters<typeof openPostgresStore>): Promise<Store> {
  const { openPostgresStore: open } = await import('./postgres.ts')
  return open(...opening)
}
