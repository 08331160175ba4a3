import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  type SqliteStatement,
} from 'kysely'
import { HubError } from '../core/errors.ts'
import type { Dialect } from './dialect.ts'
import type { OnCommit } from './group-writer.ts'
import { migrate } from './migrations/index.ts'
import { BESIDE, databaseFile, nextMigration } from './sqlite-backup.ts'
import { toGuarded, withFaults } from './sqlite-faults.ts'
import { createSearch, searchTexts } from './sqlite-search.ts'
import { createSecretWriter } from './sqlite-secrets.ts'
import { createWriter } from './sqlite-writer.ts'
import { makePrivate } from './store-copy.ts'
import { openStoreMark, type StoreMark } from './store-mark.ts'
import type { Tables } from './tables.ts'
import { StoreFault } from './writer.ts'

/** The dialect of SQLite; only files whose names begin with sqlite know SQLite. */
const sqlite: Dialect = {
  serialKey: 'integer primary key autoincrement',
  clustered: 'without rowid',
  bytes: 'blob',
  like: 'like',
  guardAudit: [
    `create trigger audit_added after insert on audit begin
      update audit_chain set last_hash = new.hash; end`,
    `create trigger audit_unchanged before update on audit begin
      select raise(abort, 'the audit is append-only'); end`,
    // Retention first moves the beginning of the chain.
    `create trigger audit_kept before delete on audit
      when old.seq > (select removed_seq from audit_chain) begin
      select raise(abort, 'the audit is append-only'); end`,
  ],
  guardAuditEnd: [
    `create trigger audit_at_end before insert on audit
    when new.seq <= (select removed_seq from audit_chain) or new.seq > (select last_seq from audit_chain)
      or exists (select 1 from audit where seq >= new.seq) begin
    select raise(abort, 'the audit is append-only'); end`,
  ],
  countOn: {},
  toIndexed: text => text,
  createSearch,
  searchTexts,
}

/** Opens the store in `<data>/superbloom.db`, and brings its schema up to date. */
export async function openSqliteStore(
  folder: string,
  onMarkFault: (error: unknown) => void,
  onCommit?: OnCommit,
) {
  const db = openSqlite(folder)
  let mark: StoreMark
  try {
    await migrate(db, sqlite)
    // The writer retries by itself, so that a lock does not block the whole process.
    await db.executeQuery(CompiledQuery.raw('pragma busy_timeout = 50'))
    mark = await openStoreMark(folder, db, onMarkFault)
  } catch (error) {
    await db.destroy()
    throw error
  }
  const findProblem = watchFile(databaseFile(folder))
  const write = createWriter(
    db,
    {
      count(tx) {
        const problem = findProblem()
        if (problem !== undefined) throw new StoreFault('unreachable', problem)
        return mark.count(tx)
      },
      write: mark.write,
    },
    onCommit,
  )
  return {
    db,
    write,
    writeSecret: createSecretWriter(db, write),
    findProblem,
    // The lock of the data folder lasts as long as the process.
    confirm: () => Promise.resolve(),
    async measure() {
      return { kind: 'sqlite', bytes: storeBytes(databaseFile(folder)) }
    },
    async compact() {
      for (const text of ['vacuum', 'pragma wal_checkpoint(truncate)'])
        await db.executeQuery(CompiledQuery.raw(text))
    },
    async [Symbol.asyncDispose]() {
      mark[Symbol.dispose]()
      await db.destroy()
    },
  }
}

/** Opens `<data>/superbloom.db` in WAL with `synchronous=FULL`: a commit is on the disk when it returns. */
export function openSqlite(folder: string): Kysely<Tables> {
  return withFaults(() => {
    const file = databaseFile(folder)
    // SQLite gives a new log and index the mode of the database's file; those of an earlier run have their own.
    makePrivate(file)
    for (const suffix of BESIDE) if (existsSync(`${file}${suffix}`)) makePrivate(`${file}${suffix}`)
    const database = new Database(file)
    try {
      database.pragma('busy_timeout = 5000')
      database.pragma('journal_mode = WAL')
      database.pragma('synchronous = FULL')
      database.pragma('foreign_keys = ON')
    } catch (error) {
      database.close()
      throw error
    }
    return new Kysely<Tables>({ dialect: new TransactionalSqlite(database) })
  })
}

/**
 * Opens the store of a data folder as it is, for reading only; its opener destroys it. Throws `not_found` where
 * there is none, and `conflict` for that of another version.
 */
export function openSqliteToRead(folder: string): Kysely<Tables> {
  const file = databaseFile(folder)
  if (!existsSync(file)) throw new HubError('not_found', `There is no store ${file}`)
  const missing = nextMigration(folder, true)
  if (missing !== undefined)
    throw new HubError('conflict', `${file} is of an earlier version. Start the hub once, which renews it.`)
  return withFaults(() => {
    const database = new Database(file, { readonly: true })
    return new Kysely<Tables>({ dialect: new SqliteDialect({ database }) })
  })
}

/** Returns the bytes of the store on the disk, including its log. */
function storeBytes(file: string): number {
  const sizes = [file, `${file}-wal`].map(path => statSync(path, { throwIfNoEntry: false })?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size, 0)
}

/**
 * Returns a function that tells why nothing can be stored, undefined while the database's file is the one that
 * was opened. SQLite goes on writing into a file that was deleted, and all of that is lost at its end.
 */
function watchFile(file: string): () => string | undefined {
  // SQLite itself recognizes a moved file by its inode, and reports it to nobody in WAL.
  const inodeOf = () => statSync(file, { bigint: true, throwIfNoEntry: false })?.ino
  const opened = inodeOf()
  return () => {
    if (inodeOf() === opened) return undefined
    return `${file} was deleted, moved or replaced while the hub runs, so that nothing is stored any more. Put the same file back; or stop the hub and put a backup back with: superbloom restore FILE`
  }
}

/**
 * Lets migrations run in a transaction, as Kysely does not for SQLite: a kill in their midst would leave half
 * a schema.
 */
class TransactionalSqlite extends SqliteDialect {
  readonly #database: Database.Database

  constructor(database: Database.Database) {
    super({ database })
    this.#database = database
  }

  override createDriver(): Driver {
    return new TransactionalDriver(this.#database)
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter()
  }
}

class TransactionalDriver extends SqliteDriver {
  readonly #database: Database.Database

  constructor(database: Database.Database) {
    super({ database: withPreparedOnce(database) })
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

class TransactionalAdapter extends SqliteAdapter {
  readonly dialect = sqlite

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

const LOCK_WAIT_MS = 8_000
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
