import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { systemClock } from '../../hub/core/clock.ts'
import { createLog } from '../../hub/core/log.ts'
import { openPostgres } from '../../hub/store/open.ts'
import type { LeadOptions } from '../../hub/store/postgres-lease.ts'

/** Database with the schema and nothing else, which every test's own is copied from. */
export const TEMPLATE = 'superbloom_template'

/** Server on which the tests' stores are, `postgres://user@host:port`; undefined where they are on SQLite. */
export const server = process.env['SUPERBLOOM_TEST_STORE'] || undefined

/** A database of a test. Disposing gives it to the next test, empty, whoever is connected. */
export interface TestDatabase extends AsyncDisposable {
  readonly url: string
}

/** Leads at once on a database that no other hub uses. */
export function leadAlone(onTaken: (why: string) => void = () => undefined): LeadOptions {
  return {
    id: randomBytes(8).toString('hex'),
    url: () => 'http://127.0.0.1',
    files: () => '',
    acceptFiles: false,
    clock: systemClock,
    log: createLog({
      level: 'error',
      now: systemClock.now,
      write: line => void process.stderr.write(`${line}\n`),
    }),
    onStandby: ({ url }) => Promise.reject(new Error(`Another hub leads: ${url}`)),
    onTaken,
    signal: new AbortController().signal,
  }
}

/** Makes the database that the tests' own are copied from, once for a server. */
export async function makeTemplate(at: string): Promise<void> {
  await ask(`${at}/postgres`, `create database ${TEMPLATE}`)
  await (await openPostgres(`${at}/${TEMPLATE}`, leadAlone()))[Symbol.asyncDispose]()
}

/** Databases that tests of this process are done with: to make one takes longer than most tests. */
const free: string[] = []

/** Makes a database with the schema of the hub. */
export async function makeDatabase(at: string): Promise<TestDatabase> {
  const url = free.pop() ?? (await createDatabase(at, `template ${TEMPLATE}`))
  let isFree = false
  return {
    url,
    async [Symbol.asyncDispose]() {
      // Two hubs that got one database would wait for each other.
      if (isFree) return
      isFree = true
      await ask(url, DISCONNECT)
      await ask(url, CLEAR)
      free.push(url)
    },
  }
}

/** Makes a database with nothing in it, which disposing drops; `as` are further words of `create database`. */
export async function makeEmptyDatabase(at: string, as = ''): Promise<TestDatabase> {
  const url = await createDatabase(at, as)
  const name = url.slice(at.length + 1)
  return { url, [Symbol.asyncDispose]: () => ask(`${at}/postgres`, `drop database ${name} with (force)`) }
}

async function createDatabase(at: string, from: string): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await ask(`${at}/postgres`, `create database ${name} ${from}`)
  return `${at}/${name}`
}

const DISCONNECT = `select pg_terminate_backend(pid, 5000) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`

/** Deletes all rows, past the triggers that guard the audit, and leaves those that migrations add. */
const CLEAR = `do $$ declare found record; begin
  set local session_replication_role = replica;
  for found in select tablename from pg_tables where schemaname = 'public' and tablename not like 'kysely%' loop
    execute format('delete from %I', found.tablename);
  end loop;
  for found in select sequencename from pg_sequences where schemaname = 'public' loop
    perform setval(found.sequencename::regclass, 1, false);
  end loop;
  insert into audit_chain values (0, '', 0, '');
  insert into event_feed values (gen_random_uuid(), 0); end $$`

async function ask(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
