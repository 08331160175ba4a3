import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { HubError } from '../core/errors.ts'
import { backUp, type Restored, restore } from './backup.ts'
import type { StorePlace } from './open.ts'
import type { DumpedDatabase } from './postgres-backup.ts'
import { backupsFolder, type StoreCopy, toStamp } from './store-copy.ts'

/** A store that is copied, and what its copying needs of the hub that uses it. */
export interface KeptStore extends StorePlace, Omit<DumpedDatabase, 'url'> {}

/**
 * Backs a store up, whether a hub runs on it or not; by default into the folder `backups` of the data folder. Throws
 * `conflict` if a file of that name is there.
 */
export async function backUpStore(store: KeptStore, now: number, file?: string): Promise<StoreCopy> {
  const { folder, url } = store
  if (url === undefined) return backUp(folder, now, file)
  if (file !== undefined && existsSync(file))
    throw new HubError('conflict', `${file} is there already, and stays as it is. Name a file that is not.`)
  const { dumpDatabase } = await import('./postgres-backup.ts')
  const target = file ?? join(backupsFolder(folder), `superbloom-${toStamp(now)}.dump`)
  return dumpDatabase({ ...store, url }, target)
}

/** Puts a backup in the place of a store, which is kept aside. Throws `conflict` while a hub runs. */
export async function restoreStore(store: KeptStore, file: string, now: number): Promise<Restored> {
  const { folder, url } = store
  if (url === undefined) return restore(folder, file, now)
  const { restoreDatabase } = await import('./postgres-backup.ts')
  return restoreDatabase({ ...store, url }, file, now)
}
