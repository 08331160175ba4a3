import Database from 'better-sqlite3'
import type { SqliteStatement } from 'kysely'
import { type FaultKind, StoreFault } from './writer.ts'

interface Fault {
  codes: RegExp
  kind: FaultKind
  text: string
}

const FAULTS: readonly Fault[] = [
  {
    codes: /^SQLITE_FULL/,
    kind: 'full',
    text: "The data folder's disk is full, so nothing was stored. Make room on it, then try again.",
  },
  {
    codes: /^SQLITE_(BUSY|LOCKED)/,
    kind: 'locked',
    text: 'Another process keeps superbloom.db locked, so nothing was stored. Close what has it open, such as a shell or a copy, then try again.',
  },
  {
    codes: /^SQLITE_(CORRUPT|NOTADB)/,
    kind: 'damaged',
    text: 'superbloom.db in the data folder is damaged, or not a database. Stop the hub and put a backup back with `superbloom restore`; the folder backups has those that were made by themselves.',
  },
  {
    codes: /^SQLITE_(IOERR|CANTOPEN|READONLY|PERM|PROTOCOL)/,
    kind: 'unreachable',
    text: "superbloom.db cannot be read or written. Check the data folder's disk and its permissions, then try again.",
  },
]

/**
 * Runs `ask`, which uses SQLite. A failure of the database itself becomes a StoreFault; any other error
 * passes as it is.
 */
export function withFaults<Value>(ask: () => Value): Value {
  try {
    return ask()
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error
    const { code } = error
    const fault = FAULTS.find(({ codes }) => codes.test(code))
    if (!fault) throw error
    throw new StoreFault(fault.kind, `${fault.text} (${code})`, { cause: error })
  }
}

/** Wraps a statement so that its failures are StoreFaults. */
export function toGuarded(statement: Database.Statement): SqliteStatement {
  return {
    reader: statement.reader,
    all: parameters => withFaults(() => statement.all(parameters)),
    run: parameters => withFaults(() => statement.run(parameters)),
    iterate: parameters => withFaults(() => statement.iterate(parameters)),
  }
}
