import type {
  ColumnBuilderCallback,
  ColumnDataType,
  CreateTableBuilder,
  Kysely,
  QueryResult,
  RawBuilder,
} from 'kysely'
import type { Tables } from './tables.ts'

/** The differences between the databases, as data: callers never ask which one they talk to. */
export interface Dialect {
  name: 'sqlite'
  /** Type of a key that the database counts up, and the modifier that makes it one. */
  serialType: ColumnDataType
  serialColumn: ColumnBuilderCallback
  /** Stores rows in the order of the table's key, if the database can: each write touches one page less. */
  clustered: <Table extends string, Column extends string>(
    table: CreateTableBuilder<Table, Column>,
  ) => CreateTableBuilder<Table, Column>
  /** Makes `history_texts` and the full-text index that follows it. */
  createSearch: (db: Kysely<unknown>) => Promise<void>
  /**
   * Finds the indexed texts that hold all of the phrases, or any of them, each with its score: the lower, the
   * better.
   */
  searchTexts: (phrases: readonly string[], which: 'all' | 'any') => RawBuilder<{ id: number; score: number }>
  /** Statements, outside any transaction, after which nothing of what was deleted is left in the files. */
  compact: readonly string[]
  /** Statements after which a commit waits for the disk, or leaves that to the next one that does. */
  syncCommits: string
  relaxCommits: string
  /** Statement that keeps a lock from blocking the whole process: the writer retries by itself. */
  waitBriefly: string
  /**
   * Rewrites a compiled statement so that its plan is kept. SQLite prepares a statement that compares a
   * column with a parameter and sorts again at each execution, since the value could change the plan; the
   * plus sign hides the value.
   */
  keepPlan(text: string): string
}

/** An adapter of the store, which adds the dialect to Kysely's own. */
export interface KnowsDialect {
  readonly dialect: Dialect
  /**
   * Runs a statement of an open transaction at once, if the database has one connection, which the
   * transaction then holds.
   */
  runInTransaction?(sql: string, parameters: readonly unknown[]): QueryResult<unknown>
}

/** Returns the dialect of an open database or of a transaction on it. */
export function dialectOf(db: Kysely<Tables>): Dialect {
  return adapterOf(db).dialect
}

export function adapterOf(db: Kysely<Tables>): KnowsDialect {
  const { adapter } = db.getExecutor()
  if ('dialect' in adapter) return adapter as typeof adapter & KnowsDialect
  throw new Error('This database was not opened by the store')
}
