import { chmodSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database } from 'better-sqlite3'
import { ToolFailure } from '../../kit/failure.ts'
import { describeError } from '../../kit/log.ts'

const VERSION = 3
const LOCK_WAIT_MS = 5000

const SCHEMA = `
create table if not exists messages (
  seq integer primary key autoincrement,
  id text not null unique,
  request text not null,
  channel text not null,
  title text,
  text text not null,
  severity text not null,
  image blob,
  image_type text,
  image_url text,
  dedupe text not null,
  repeats integer not null default 0,
  status text not null,
  hold text,
  batch text,
  attempts integer not null default 0,
  doubtful integer not null default 0,
  due integer,
  created_at integer not null,
  tried_at integer,
  finished_at integer,
  failure text,
  upstream_id text,
  notes text not null default '[]'
);
create index if not exists messages_due on messages (channel, due) where due is not null;
create index if not exists messages_request on messages (request);
create index if not exists messages_batch on messages (batch);
create index if not exists messages_dedupe on messages (channel, dedupe, seq);
create index if not exists messages_finished on messages (channel, finished_at);
create table if not exists requests (key text primary key, answer text not null, at integer not null);
`

/**
 * Opens the file, or makes it, for this process alone; a commit is on the disk when it returns. Rejects with
 * ToolFailure. The library is loaded only here, so that a server that sends nothing saves that
 * memory.
 */
export async function openDatabase(path: string): Promise<Database> {
  let database: Database | undefined
  try {
    const { default: Sqlite } = await import('better-sqlite3')
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    database = new Sqlite(path)
    chmodSync(path, 0o600)
    database.pragma(`busy_timeout = ${LOCK_WAIT_MS}`)
    database.pragma('locking_mode = EXCLUSIVE')
    database.pragma('journal_mode = WAL')
    database.pragma('synchronous = FULL')
    // The keys of buttons are secrets: what is deleted is overwritten.
    database.pragma('secure_delete = ON')
    database.transaction(migrate).immediate(database)
    return database
  } catch (error) {
    database?.close()
    const isTaken = error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY'
    throw new ToolFailure(
      {
        what: 'The outbox cannot be opened, so nothing was sent.',
        where: path,
        why: isTaken ? 'another process has it open, and only one may' : describeError(error),
        fix: 'Let this user write there, or set NOTIFICATIONS_DATA to a file that it can write and that is used by nobody else.',
      },
      { cause: error },
    )
  }
}

function migrate(database: Database): void {
  const version = Number(database.pragma('user_version', { simple: true }))
  if (version > VERSION) throw new Error(`it was written by a newer version (${version})`)
  database.exec(SCHEMA)
  if (version < 2) database.exec('alter table messages add column buttons text')
  if (version < 3) database.exec('alter table messages add column replaces text')
  database.pragma(`user_version = ${VERSION}`)
}
