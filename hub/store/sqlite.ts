import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  type SqliteStatement,
  sql,
} from 'kysely'
import { HubError } from '../core/errors.ts'
import type { Dialect, KnowsDialect } from './dialect.ts'
import { makePrivate } from './private-file.ts'
import { BESIDE, databaseFile } from './sqlite-backup.ts'
import { toGuarded, withFaults } from './sqlite-faults.ts'
import { createSearch, searchTexts } from './sqlite-search.ts'

/** The dialect of SQLite; only files whose names begin with sqlite know SQLite. */
export const sqlite: Dialect = {
  name: 'sqlite',
  serialType: 'integer',
  serialColumn: column => column.primaryKey().autoIncrement(),
  clustered: table => table.modifyEnd(sql`without rowid`),
  createSearch,
  searchTexts,
  compact: ['vacuum', 'pragma wal_checkpoint(truncate)'],
  syncCommits: 'pragma synchronous = FULL',
  relaxCommits: 'pragma synchronous = NORMAL',
  waitBriefly: 'pragma busy_timeout = 50',
  keepPlan: text => text.replaceAll(' = ?', ' = +?'),
}

const LOCK_WAIT_MS = 8_000

/**
 * Opens `<data>/superbloom.db` in WAL with `synchronous=FULL`: a commit is on the disk when it returns.
 * `:memory:` as the folder gives a database that no other process sees.
 */
export function openSqlite(folder: string): SqliteDialect {
  return withFaults(() => {
    if (folder !== ':memory:') keepToOwner(folder)
    const database = new Database(folder === ':memory:' ? folder : databaseFile(folder))
    try {
      database.pragma('busy_timeout = 5000')
      database.pragma('journal_mode = WAL')
      database.pragma('synchronous = FULL')
      database.pragma('foreign_keys = ON')
    } catch (error) {
      database.close()
      throw error
    }
    return new TransactionalSqlite(database)
  })
}

/**
 * Makes the database's files private. SQLite gives a new log and index the mode of the database's file; those
 * of an earlier run have their own.
 */
function keepToOwner(folder: string): void {
  const file = databaseFile(folder)
  makePrivate(file)
  for (const suffix of BESIDE) if (existsSync(`${file}${suffix}`)) makePrivate(`${file}${suffix}`)
}

/**
 * Lets migrations run in a transaction, as Kysely does not for SQLite: a kill in their midst would leave half
 * a schema.
 */
class TransactionalSqlite extends SqliteDialect {
  readonly #database: Database.Database
  readonly #prepared: SqliteDatabase

  constructor(database: Database.Database) {
    super({ database })
    this.#database = database
    this.#prepared = withPreparedOnce(database)
  }

  override createDriver(): Driver {
    return new TransactionalDriver(this.#database, this.#prepared)
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter(this.#prepared)
  }
}

class TransactionalDriver extends SqliteDriver {
  readonly #database: Database.Database

  constructor(database: Database.Database, prepared: SqliteDatabase) {
    super({ database: prepared })
    this.#database = database
  }

  /**
   * Takes the lock for writing before anything runs, so that a transaction that finds it taken may simply
   * begin again.
   */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(BEGIN)
  }

  /** Rolls back, unless SQLite did so by itself, as after some errors such as a full disk. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.inTransaction) await super.rollbackTransaction(connection)
  }
}

const BEGIN = CompiledQuery.raw('begin immediate')

class TransactionalAdapter extends SqliteAdapter implements KnowsDialect {
  readonly dialect = sqlite
  readonly #prepared: SqliteDatabase

  constructor(prepared: SqliteDatabase) {
    super()
    this.#prepared = prepared
  }

  runInTransaction(sql: string, parameters: readonly unknown[]): QueryResult<unknown> {
    const statement = this.#prepared.prepare(sql)
    if (statement.reader) return { rows: statement.all(parameters) }
    const { changes } = statement.run(parameters)
    return { rows: [], numAffectedRows: BigInt(changes) }
  }

  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** Prepared statements that are kept: the hub's are few, and to prepare one takes longer than to run it. */
const MOST_STATEMENTS = 500

function withPreparedOnce(database: Database.Database): SqliteDatabase {
  const prepared = new Map<string, SqliteStatement>()
  return {
    close: () => void database.close(),
    prepare(sql) {
      const known = prepared.get(sql)
      if (known) return known
      const fresh = withFaults(() => toGuarded(database.prepare(sql)))
      if (prepared.size >= MOST_STATEMENTS) prepared.clear()
      prepared.set(sql, fresh)
      return fresh
    },
  }
}

const OTHER_FOLDER = 'Stop it first, or give this one a folder of its own with SUPERBLOOM_DATA.'

/**
 * Makes this process the one hub of a data folder: an exclusive transaction on `<data>/lock.db`, which the
 * system frees when the process dies. Waits `wait` milliseconds for a predecessor that is ending. Throws
 * `conflict`.
 */
export function lockFolder(folder: string, wait = LOCK_WAIT_MS, hint = OTHER_FOLDER): Disposable {
  const file = join(folder, 'lock.db')
  makePrivate(file)
  const lock = new Database(file, { timeout: wait })
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (!(error instanceof Database.SqliteError) || error.code !== 'SQLITE_BUSY') throw error
    throw new HubError('conflict', `Another hub already runs on the data folder ${folder}. ${hint}`, {
      cause: error,
    })
  }
  return { [Symbol.dispose]: () => void lock.close() }
}
