import type { Kysely, RawBuilder } from 'kysely'
import type { Tables } from './tables.ts'

/** The differences between the databases, as data: callers never ask which one they talk to. */
export interface Dialect {
  /** Type of a key that the database counts up. */
  serialKey: string
  /** Words after a table that stores its rows in the order of its key, so that a write touches one page less. */
  clustered: string
  /** Type of a column of bytes. */
  bytes: string
  /** Operator that compares with a pattern, whatever the case of ASCII letters. */
  like: string
  /**
   * Statements by which a row of `audit` becomes the end of the chain, and which keep rows from being changed, and
   * from being removed but as the oldest.
   */
  guardAudit: readonly string[]
  /** Statements which keep rows of `audit` from being added anywhere but at the end of the chain. */
  guardAuditEnd: readonly string[]
  /** Statements after rows with given keys, so that the next key that the database counts up is above them. */
  countOn: { readonly [Table in keyof Tables]?: readonly string[] }
  /** Returns a text as `history_texts` holds it. */
  toIndexed: (text: string) => string
  /** Makes `history_texts` and the full-text index that follows it. */
  createSearch: (db: Kysely<unknown>) => Promise<void>
  /**
   * Finds the indexed texts that hold all of the phrases, or any of them, each with its score: the lower, the
   * better.
   */
  searchTexts: (phrases: readonly string[], which: 'all' | 'any') => RawBuilder<{ id: number; score: number }>
}

/** Returns the dialect of an open database, whose adapter knows it, or of a transaction on it. */
export function dialectOf(db: Kysely<Tables>): Dialect {
  const { adapter } = db.getExecutor()
  if ('dialect' in adapter) return adapter.dialect as Dialect
  throw new Error('This database was not opened by the store')
}
