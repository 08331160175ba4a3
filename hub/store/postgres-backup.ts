import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { systemClock } from '../core/clock.ts'
import { describeError, HubError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import type { Restored } from './backup.ts'
import { RESTORED_KEY } from './hub-state.ts'
import { writeLoginFiles } from './login-files.ts'
import { missingMigration } from './migrations/index.ts'
import { openPostgresAsIs } from './postgres.ts'
import { toShownAddress } from './postgres-address.ts'
import { type Lease, openLease } from './postgres-lease.ts'
import { readServerLogins } from './server-logins.ts'
import { lockFolder } from './sqlite.ts'
import { backupsFolder, COUNTED, makePrivate, type StoreCopy, syncToDisk, toStamp } from './store-copy.ts'

/** A database, and what its copying needs of the hub that uses it. */
export interface DumpedDatabase {
  url: string
  /** The data folder. */
  folder: string
  /** Variables with which PostgreSQL's own programs run. */
  environment: Readonly<Record<string, string>>
  /** Returns the id of the data folder. */
  hub: () => string
  log: Log
}

/** Milliseconds that a restore waits for a hub that is ending. */
const LOCK_WAIT_MS = 2_000
/** Owners and rights are those of whoever restores; no copy has the logins at servers. */
const DUMP = [
  ...['--format=custom', '--no-owner', '--no-privileges', '--exclude-table-data=server_logins'],
  // A copy must not carry the lease of the hub that leads now.
  '--exclude-table=leader*',
]
const PASSWORD = /^([a-z]+:\/\/[^/?#:@]*):([^/?#@]*)@/

/**
 * Copies the store with pg_dump as it is at one instant, whether a hub runs on it or not, and reads the whole copy
 * before it gets its name.
 */
export async function dumpDatabase(database: DumpedDatabase, file: string): Promise<StoreCopy> {
  const target = resolve(file)
  const partial = `${target}.partial`
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
  rmSync(partial, { force: true })
  makePrivate(partial)
  try {
    await run(database, 'pg_dump', [...DUMP, `--file=${partial}`])
    const { rows } = await readDump(database, partial)
    await syncToDisk(partial)
    await rename(partial, target)
    await syncToDisk(dirname(target))
    return { file: target, bytes: statSync(target).size, rows }
  } finally {
    rmSync(partial, { force: true })
  }
}

/**
 * Puts a dump in the place of the store, in one transaction; what was there is dumped before. Throws `conflict` while
 * a hub runs.
 */
export async function restoreDatabase(
  database: DumpedDatabase,
  file: string,
  now: number,
): Promise<Restored> {
  const { folder } = database
  using _folder = lockFolder(folder, LOCK_WAIT_MS, 'Stop it first.')
  await using _lease = await leadNow(database)
  const source = resolve(file)
  if (!existsSync(source)) throw new HubError('not_found', `There is no file ${source}`)
  const { rows, migrations } = await readDump(database, source)
  missingMigration(migrations, source)
  const before = await keepBefore(
    database,
    join(backupsFolder(folder), `before-restore-${toStamp(now)}.dump`),
  )
  await replace(database, source)
  return { file: source, bytes: statSync(source).size, rows, before, canBeUndone: before !== undefined }
}

/** Keeps hubs off the database. Throws `conflict` where one leads. */
function leadNow({ url, hub, log }: DumpedDatabase): Promise<Lease> {
  const where = toShownAddress(url)
  return openLease(url, {
    id: hub(),
    url: () => '',
    files: () => '',
    acceptFiles: true,
    clock: systemClock,
    log,
    onStandby: ({ url: other }) =>
      Promise.reject(
        new HubError(
          'conflict',
          `The hub at ${other} leads on ${where}. Stop it first; one that crashed leads for 15 seconds more.`,
        ),
      ),
    onTaken: why => log.error('restore_taken', { why }),
    signal: new AbortController().signal,
  })
}

/** Dumps what is in the database, if it has a store, and has its logins at servers stay. */
async function keepBefore(database: DumpedDatabase, file: string): Promise<string | undefined> {
  try {
    await using stack = new AsyncDisposableStack()
    const db = stack.adopt(await openPostgresAsIs(database.url), open => open.destroy())
    writeLoginFiles(database.folder, await readServerLogins(db))
  } catch (error) {
    if (error instanceof HubError && error.code === 'not_found') return undefined
    throw error
  }
  return (await dumpDatabase(database, file)).file
}

/** Removes what is there; the dump brings its own. */
const CLEAR = `do $$ declare found record; begin
  for found in select tablename as name from pg_tables where schemaname = current_schema() and tablename !~ '^leader' loop
    execute format('drop table %I cascade', found.name);
  end loop;
  for found in select proname as name from pg_proc
    where pronamespace = current_schema()::regnamespace and proname like 'audit%' loop
    execute format('drop function %I', found.name);
  end loop; end $$;`

async function replace(database: DumpedDatabase, source: string): Promise<void> {
  const folder = mkdtempSync(join(database.folder, 'restoring-'))
  try {
    const [clear, body, note] = ['1.sql', '2.sql', '3.sql'].map(name => join(folder, name)) as [
      string,
      string,
      string,
    ]
    writeFileSync(clear, CLEAR)
    const script = start(
      'pg_restore',
      ['--no-owner', '--no-privileges', `--file=${body}`, source],
      database.environment,
    )
    script.stdout.resume()
    if ((await script.ended) !== 0)
      throw new HubError('unavailable', `pg_restore failed: ${(await script.said).trim()}`)
    const restored = JSON.stringify(source).replaceAll("'", "''")
    // A copy that takes a store's place gives seqs to other events, so that readers have to begin anew.
    writeFileSync(
      note,
      `reset search_path; update event_feed set stream = gen_random_uuid();
      insert into hub_state values ('${RESTORED_KEY}', '${restored}')
        on conflict (key) do update set value_json = excluded.value_json;`,
    )
    const files = [clear, body, note].flatMap(one => ['-f', one])
    await run(database, 'psql', ['-Xq', '-1', '-v', 'ON_ERROR_STOP=1', '-o', join(folder, 'out'), ...files])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Reads a whole dump: the rows of the tables that people know, and the migrations that made it. */
async function readDump(
  { environment }: Pick<DumpedDatabase, 'environment'>,
  file: string,
): Promise<Pick<StoreCopy, 'rows'> & { migrations: string[] }> {
  const rows: Record<string, number> = Object.fromEntries(COUNTED.map(table => [table, 0]))
  const migrations: string[] = []
  const program = start('pg_restore', ['--file=-', file], environment)
  let table: string | undefined
  for await (const line of createInterface({ input: program.stdout })) {
    if (line === '\\.') table = undefined
    else if (table === undefined) table = /^COPY (?:\w+\.)?(\w+) \(/.exec(line)?.[1]
    else if (table === 'kysely_migration') migrations.push(line.split('\t')[0] ?? '')
    else if (Object.hasOwn(rows, table)) rows[table] = (rows[table] ?? 0) + 1
  }
  if ((await program.ended) === 0 && migrations.length > 0) return { rows, migrations }
  const said = (await program.said).trim()
  throw new HubError('invalid_arguments', `${file} is no backup of Superbloom, or is damaged. ${said}`)
}

/** Runs a program of PostgreSQL on the database. Throws what it says if it fails. */
async function run(
  { url, environment }: DumpedDatabase,
  name: string,
  args: readonly string[],
): Promise<void> {
  const [, , password] = PASSWORD.exec(url) ?? []
  const program = start(name, [...args, `--dbname=${url.replace(PASSWORD, '$1@')}`], {
    ...environment,
    // A password among the arguments can be read by everybody on the machine.
    ...(password === undefined ? {} : { PGPASSWORD: decodeURIComponent(password) }),
  })
  program.stdout.resume()
  if ((await program.ended) === 0) return
  throw new HubError('unavailable', `${name} failed: ${(await program.said).trim()}`)
}

function start(name: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(name, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close').then(
    ([code]: (number | null)[]) => code,
    (error: unknown) => {
      const how = `install the programs of PostgreSQL's clients (Debian: postgresql-client) of at least the server's version`
      throw new HubError('unavailable', `${name} cannot be run: ${describeError(error)}; ${how}`)
    },
  )
  // Whoever reads the output first awaits this later.
  ended.catch(() => undefined)
  return { stdout: child.stdout, said: text(child.stderr), ended }
}
