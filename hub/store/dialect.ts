import type { ColumnBuilderCallback, ColumnDataType, CreateTableBuilder, Kysely } from 'kysely'

/** What differs between the databases, as data: callers never ask which one they talk to. */
export interface Dialect {
  name: 'sqlite'
  /** The type of a key that the database counts up, and what makes it one. */
  serialType: ColumnDataType
  serialColumn: ColumnBuilderCallback
  /** Stores the rows of a table in the order of its key, where the database can: each write touches one page less. */
  clustered: <Table extends string, Column extends string>(
    table: CreateTableBuilder<Table, Column>,
  ) => CreateTableBuilder<Table, Column>
  /** Makes the full-text index of the history. */
  createSearch: (db: Kysely<unknown>) => Promise<void>
  /** Statements after which a commit waits for the disk, or leaves that to the next one that does. */
  syncCommits: string
  relaxCommits: string
}
