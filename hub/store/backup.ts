import { copyFileSync, existsSync, linkSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { HubError } from '../core/errors.ts'
import { writeLoginFiles } from './login-files.ts'
import { lockFolder } from './sqlite.ts'
import {
  BESIDE,
  beginNewFeed,
  copyDatabase,
  databaseFile,
  eraseLogins,
  foldLog,
  isRestorable,
  listBackups,
  nextMigration,
  noteRestored,
  readLogins,
  withDatabase,
} from './sqlite-backup.ts'
import { backupsFolder, makePrivate, type StoreCopy, syncToDisk, toStamp } from './store-copy.ts'
import { markFile } from './store-mark.ts'

/** Automatic backups that are kept. */
const MOST_AUTOMATIC = 5
/** Milliseconds after which the leftovers of a killed backup are removed. */
const STALE_MS = 3_600_000

/** Milliseconds that a restore waits for a hub that is ending. */
const LOCK_WAIT_MS = 2_000
const STOP_FIRST = 'Stop it first: what it has open cannot be put in another place.'

/**
 * Backs the store of a data folder up, whether a hub runs on it or not; by default into its folder `backups`.
 * Throws `conflict` if a file of that name is there: it may be the only good copy, or the store itself.
 */
export async function backUp(folder: string, now: number, file?: string): Promise<StoreCopy> {
  if (file !== undefined && existsSync(file))
    throw new HubError('conflict', `${file} is there already, and stays as it is. Name a file that is not.`)
  sweep(folder, now)
  const target = file ?? join(backupsFolder(folder), `superbloom-${toStamp(now)}.db`)
  return copyDatabase(databaseFile(folder), resolve(target))
}

/**
 * Backs a store that holds something up before a migration; undefined if none is due. Throws `conflict` for a
 * newer store.
 */
export async function backUpBeforeMigration(folder: string): Promise<StoreCopy | undefined> {
  // Backups of an earlier version, or that a person put there, are as secret as the store.
  for (const file of listBackups(folder)) makePrivate(file)
  const migration = nextMigration(folder)
  if (migration === undefined) return undefined
  const copy = await copyDatabase(databaseFile(folder), join(backupsFolder(folder), `before-${migration}.db`))
  const automatic = listBackups(folder).filter(file => basename(file).startsWith('before-'))
  for (const old of automatic.slice(MOST_AUTOMATIC)) rmSync(old, { force: true })
  return copy
}

export interface Restored extends StoreCopy {
  /** File of the store that was there before; undefined if there was none. */
  before: string | undefined
  /** Whether the store in `before` can be restored in turn. */
  canBeUndone: boolean
}

/**
 * Puts a backup in the place of a data folder's store, which is kept aside. The backup is copied and verified
 * first; until then, and whenever the process is killed, the old store stays in force. Throws `conflict`
 * while a hub runs.
 */
export async function restore(folder: string, file: string, now: number): Promise<Restored> {
  using _lock = lockFolder(folder, LOCK_WAIT_MS, STOP_FIRST)
  const database = databaseFile(folder)
  const fresh = `${database}.restoring`
  try {
    const copy = await copyDatabase(resolve(file), fresh)
    beginNewFeed(fresh)
    noteRestored(fresh, resolve(file))
    const before = existsSync(database) ? freeName(`${database}.before-restore-${toStamp(now)}`) : undefined
    // The old store's mark says nothing of the restored one.
    rmSync(markFile(folder), { force: true })
    const isReadable = before !== undefined && setAside(database, before)
    // The logins at servers stay those of the folder, whatever store is put back.
    if (isReadable) {
      const logins = unlessDamaged(() => withDatabase(before, readLogins, true), [])
      writeLoginFiles(folder, logins)
    }
    renameSync(fresh, database)
    await syncToDisk(folder)
    if (isReadable) unlessDamaged(() => withDatabase(before, eraseLogins), undefined)
    const canBeUndone = isReadable && isRestorable(before)
    return { ...copy, file: resolve(file), before, canBeUndone }
  } finally {
    rmSync(fresh, { force: true })
  }
}

/**
 * Gives the old store a second name; it keeps its own until the new store takes that. No log may stay for the
 * new store. Returns false for a store that cannot be opened.
 */
function setAside(database: string, before: string): boolean {
  const isReadable = tryFoldLog(database)
  if (!isReadable) {
    for (const suffix of BESIDE) {
      if (existsSync(`${database}${suffix}`)) renameSync(`${database}${suffix}`, `${before}${suffix}`)
    }
  }
  try {
    linkSync(database, before)
  } catch (error) {
    // Some file systems cannot give a file two names.
    if (!(error instanceof Error && 'code' in error) || error.code === 'EEXIST') throw error
    copyFileSync(database, before)
  }
  return isReadable
}

/** Folds the log into the file; returns false for a store too damaged to be opened, and keeps it. */
function tryFoldLog(database: string): boolean {
  return unlessDamaged(() => {
    foldLog(database)
    return !BESIDE.some(suffix => existsSync(`${database}${suffix}`))
  }, false)
}

/** Returns what `use` does, or a fallback where the database is too damaged for it. */
function unlessDamaged<Result>(use: () => Result, fallback: Result): Result {
  try {
    return use()
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE')) return fallback
    throw error
  }
}

function freeName(file: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? file : `${file}-${number}`
    if (!existsSync(name)) return name
  }
}

function sweep(folder: string, now: number): void {
  const backups = backupsFolder(folder)
  if (!existsSync(backups)) return
  for (const name of readdirSync(backups).filter(each => /\.partial(?:-\w+)?$/.test(each))) {
    const file = join(backups, name)
    if (now - statSync(file).mtimeMs > STALE_MS) rmSync(file, { force: true })
  }
}
