import { CompiledQuery, Kysely } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { backUpBeforeMigration } from './backup.ts'
import type { Dialect } from './dialect.ts'
import { migrations } from './migrations/index.ts'
import { createOpenedFile } from './opened-file.ts'
import { openSqlite, sqlite } from './sqlite.ts'
import { databaseFile } from './sqlite-backup.ts'
import { openStoreMark, type StoreMark } from './store-mark.ts'
import type { Tables } from './tables.ts'
import { createWriter, type Write } from './writer.ts'

/** The store: reads go through `db`, writes through `write`. Its opener disposes of it. */
export interface Store extends AsyncDisposable {
  readonly db: Kysely<Tables>
  readonly write: Write
  /** Rewrites the files so that nothing deleted is left in them. Takes as long as to copy them. */
  compact(): Promise<void>
  /** Returns why nothing can be stored, for people; undefined if that is not known. */
  findProblem(): string | undefined
}

/**
 * Opens the store of a data folder and brings its schema up to date; a store that holds something is backed
 * up before. `onMarkFault` is called if the store's mark cannot be written. Throws if opening fails, and
 * `conflict` for a store of a newer version; nothing stays open.
 */
export async function openStore(
  folder: string,
  onMarkFault: (error: unknown) => void = () => undefined,
): Promise<Store> {
  await backUpBeforeMigration(folder)
  const db = new Kysely<Tables>({ dialect: openSqlite(folder) })
  let mark: StoreMark
  try {
    await migrate(db, sqlite)
    await db.executeQuery(CompiledQuery.raw(sqlite.waitBriefly))
    mark = await openStoreMark(folder, db, onMarkFault)
  } catch (error) {
    await db.destroy()
    throw error
  }
  const opened = createOpenedFile(databaseFile(folder))
  return {
    db,
    write: createWriter(db, sqlite, {
      count(tx) {
        opened.check()
        return mark.count(tx)
      },
      write: mark.write,
    }),
    findProblem: opened.findProblem,
    compact: async () => {
      for (const statement of sqlite.compact) await db.executeQuery(CompiledQuery.raw(statement))
    },
    async [Symbol.asyncDispose]() {
      mark[Symbol.dispose]()
      await db.destroy()
    },
  }
}

async function migrate(db: Kysely<Tables>, dialect: Dialect): Promise<void> {
  const known: Record<string, Migration> = Object.fromEntries(
    migrations.map(({ name, up }) => [name, { up: (inner: Kysely<unknown>) => up(inner, dialect) }]),
  )
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(known) },
    // The default sorts in a language's order, for which ICU's tables are loaded.
    nameComparator: (one, other) => (one < other ? -1 : 1),
  })
  const { error, results } = await migrator.migrateToLatest()
  if (!error) return
  const failed = results?.find(result => result.status === 'Error')
  throw new Error(`The store's migration ${failed?.migrationName ?? ''} failed`, { cause: error })
}
