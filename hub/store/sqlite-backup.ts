import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { HubError } from '../core/errors.ts'
import type { ServerLoginRow } from './door-tables.ts'
import { RESTORED_KEY } from './hub-state.ts'
import { missingMigration } from './migrations/index.ts'
import { withFaults } from './sqlite-faults.ts'
import { backupsFolder, COUNTED, type StoreCopy, syncToDisk } from './store-copy.ts'

export const MIGRATIONS = 'kysely_migration'
/** Table that no copy has: an old refresh token that is used again ends the login. */
const LOGINS = 'server_logins'
/** Migration that made the feed's table; older backups have none. */
const EVENT_FEED = '003-event-feed'

/** Returns the files of a data folder's backups, the newest first. */
export function listBackups(folder: string): string[] {
  const backups = backupsFolder(folder)
  const names = existsSync(backups) ? readdirSync(backups) : []
  const files = names.filter(name => name.endsWith('.db')).map(name => join(backups, name))
  return files.toSorted((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)
}

/** Returns the store's file in a data folder. */
export function databaseFile(folder: string): string {
  return join(folder, 'superbloom.db')
}

/**
 * Copies a database, which may be written to meanwhile, as it is at one instant but without the logins at servers;
 * verifies the copy, and only then gives it its name, so that a file of that name is always whole. Replaces a file
 * that is there. Throws `not_found` if there is no source, and `invalid_arguments` if it is no database of the hub,
 * or is damaged.
 */
export async function copyDatabase(source: string, file: string): Promise<StoreCopy> {
  if (!existsSync(source)) throw new HubError('not_found', `There is no file ${source}`)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const partial = `${file}.partial`
  removeDatabase(partial)
  try {
    writeFileSync(partial, '', { mode: 0o600, flag: 'wx' })
    const rows = await copyInstant(source, partial)
    verifyCopy(partial, rows, source)
    await syncToDisk(partial)
    await rename(partial, file)
    await syncToDisk(dirname(file))
    return { file, bytes: statSync(file).size, rows }
  } finally {
    removeDatabase(partial)
  }
}

/** Copies within a transaction that reads, so that others' writes do not make the copy begin anew. */
async function copyInstant(source: string, partial: string): Promise<Record<string, number>> {
  let database: Database.Database | undefined
  try {
    database = new Database(source, { fileMustExist: true })
    database.exec('begin')
    const rows = countRows(database)
    await database.backup(partial, { progress: ({ totalPages }) => totalPages })
    return rows
  } catch (error) {
    throw explain(error, source)
  } finally {
    database?.close()
  }
}

/** Opens a database that is there, lets `use` use it, and closes it. */
export function withDatabase<Result>(
  file: string,
  use: (database: Database.Database) => Result,
  readonly = false,
): Result {
  const database = new Database(file, { fileMustExist: true, readonly })
  try {
    return use(database)
  } finally {
    database.close()
  }
}

/** Verifies the copy, and leaves it as one file without a log beside it. */
function verifyCopy(partial: string, rows: Record<string, number>, source: string): void {
  try {
    withDatabase(partial, copy => {
      copy.pragma('journal_mode = delete')
      eraseLogins(copy)
      refuseUnfit(copy, source)
      const copied = countRows(copy)
      const wrong = COUNTED.find(table => copied[table] !== rows[table])
      if (wrong)
        throw new Error(`The copy of ${source} has ${copied[wrong]} of ${rows[wrong]} rows of ${wrong}`)
    })
  } catch (error) {
    throw explain(error, source)
  }
}

/** Returns the logins at servers that a database has; backups of earlier versions have no table of them. */
export function readLogins(database: Database.Database): ServerLoginRow[] {
  if (!hasTable(database, LOGINS)) return []
  return database.prepare(`select * from ${LOGINS}`).all() as ServerLoginRow[]
}

/** Deletes the logins at servers, and leaves nothing of them in the file. */
export function eraseLogins(database: Database.Database): void {
  if (!hasTable(database, LOGINS)) return
  database.pragma('secure_delete = on')
  database.exec(`delete from ${LOGINS}`)
}

/** Throws if a database is damaged, or of a newer version. */
function refuseUnfit(database: Database.Database, source: string): void {
  const [{ integrity_check: found = '' } = {}] = database.pragma('integrity_check(1)') as {
    integrity_check?: string
  }[]
  if (found !== 'ok')
    throw new HubError('invalid_arguments', `${source} is damaged: ${found}. Take another backup.`)
  missingMigration(appliedMigrations(database), source)
}

/** Tells whether a file is a store that could be restored; leaves it as it is. */
export function isRestorable(file: string): boolean {
  try {
    withDatabase(
      file,
      database => {
        countRows(database)
        refuseUnfit(database, file)
      },
      true,
    )
    return true
  } catch (error) {
    if (error instanceof HubError || error instanceof Database.SqliteError) return false
    throw error
  }
}

function countRows(database: Database.Database): Record<string, number> {
  return Object.fromEntries(
    COUNTED.map(table => [table, Number(database.prepare(`select count(*) from ${table}`).pluck().get())]),
  )
}

export function hasTable(database: Database.Database, name: string): boolean {
  const find = database.prepare("select 1 from sqlite_master where type = 'table' and name = ?")
  return find.get(name) !== undefined
}

/** Returns the migrations that made a database, in order; none for an empty one or another program's. */
function appliedMigrations(database: Database.Database): string[] {
  if (!hasTable(database, MIGRATIONS)) return []
  return database.prepare(`select name from ${MIGRATIONS} order by name`).pluck().all() as string[]
}

/**
 * Returns the first migration that a data folder's database lacks; undefined if it is up to date, or has
 * nothing in it yet. Throws `conflict` for a newer version's database.
 */
export function nextMigration(folder: string, readonly = false): string | undefined {
  const file = databaseFile(folder)
  if (!existsSync(file) || statSync(file).size === 0) return undefined
  const applied = withFaults(() => withDatabase(file, appliedMigrations, readonly))
  const missing = missingMigration(applied, file)
  return applied.length === 0 ? undefined : missing
}

/** Writes a database's log into its file. No other connection may be open. */
export function foldLog(file: string): void {
  withDatabase(file, database => {
    database.pragma('wal_checkpoint(truncate)')
    database.pragma('journal_mode = delete')
  })
}

/**
 * Gives the event feed a new stream: a copy that takes a store's place gives seqs to other events than the
 * store did, so readers have to begin anew.
 */
export function beginNewFeed(file: string): void {
  withDatabase(file, database => {
    if (appliedMigrations(database).includes(EVENT_FEED))
      database.prepare('update event_feed set stream = ?').run(randomUUID())
  })
}

/** Has the next start record that a store was put back, and from which file. */
export function noteRestored(fresh: string, file: string): void {
  withDatabase(fresh, database => {
    if (hasTable(database, 'hub_state'))
      database
        .prepare('insert or replace into hub_state values (?, ?)')
        .run(RESTORED_KEY, JSON.stringify(file))
  })
}

/** Suffixes of the files that a database may have beside it. */
export const BESIDE = ['-wal', '-shm', '-journal'] as const

function removeDatabase(file: string): void {
  for (const suffix of ['', ...BESIDE]) rmSync(`${file}${suffix}`, { force: true })
}

function explain(error: unknown, file: string): unknown {
  if (!(error instanceof Database.SqliteError)) return error
  if (error.code === 'SQLITE_BUSY') {
    return new HubError('conflict', `${file} is in use by another program. Try again.`, { cause: error })
  }
  const what = `${basename(file)} is no database of Superbloom, or is damaged`
  return new HubError('invalid_arguments', `${what}: ${error.message} (${file})`, { cause: error })
}
