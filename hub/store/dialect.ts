import type { ColumnBuilderCallback, ColumnDataType } from 'kysely'

/** What differs between the databases, as data: callers never ask which one they talk to. */
export interface Dialect {
  name: 'sqlite'
  /** The type of a key that the database counts up, and what makes it one. */
  serialType: ColumnDataType
  serialColumn: ColumnBuilderCallback
  /** Statements after which a commit waits for the disk, or leaves that to the next one that does. */
  syncCommits: string
  relaxCommits: string
}
