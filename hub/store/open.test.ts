import { chmodSync, existsSync, mkdirSync, readdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { makeTempFolder, openTempStore } from '../../tests/support/temp-store.ts'
import { backUp } from './backup.ts'
import { migrations } from './migrations/index.ts'
import { openStore, type Store } from './open.ts'
import { lockFolder } from './sqlite.ts'

async function dump({ db }: Store): Promise<string> {
  const { rows } = await sql<{ sql: string }>`
    select sql from sqlite_master
    where sql is not null and name not like 'sqlite_%' and name not like 'kysely_%'
    order by tbl_name, type desc, name`.execute(db)
  const lines = rows.map(row => `${row.sql.replace(/\n +/g, '\n  ')};`)
  return `-- What the migrations make on SQLite. A test compares it; write it anew with: vitest run hub/store/open.test.ts -u\n${lines.join('\n')}\n`
}

test('the schema that all migrations make together is the one that is committed', async () => {
  await using store = await openTempStore()
  await expect(await dump(store)).toMatchFileSnapshot('./schema.sql')
})

test('migrations are numbered in order', () => {
  const names = migrations.map(({ name }) => name)
  const numbers = names.map(name => Number(name.slice(0, 3)))
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
})

test('opened again it is as it was left', async () => {
  using folder = makeTempFolder()
  for (const name of ['a', 'b']) {
    await using store = await openStore(folder.path)
    const row = { name, retired_at: null, created_at: 1 }
    await store.write(tx => tx.insertInto('agents').values(row).execute())
    const names = await store.db.selectFrom('agents').select('name').execute()
    expect(names.length).toBe(name === 'a' ? 1 : 2)
  }
})

test('a migration that fails is named, and nothing of it stays', async () => {
  using folder = makeTempFolder()
  const other = new Database(join(folder.path, 'superbloom.db'))
  other.exec('create table inbox (id integer)')
  await expect(openStore(folder.path)).rejects.toThrow("The store's migration 001-start failed")
  const tables = other
    .prepare("select name from sqlite_master where type = 'table' and name not like 'kysely_%'")
    .all()
  other.close()
  expect(tables).toEqual([{ name: 'inbox' }])
})

test('what is no database is refused, and stays as it is', async () => {
  using folder = makeTempFolder()
  writeFileSync(
    join(folder.path, 'superbloom.db'),
    'this is a letter and not a database, of some length '.repeat(50),
  )
  await expect(openStore(folder.path)).rejects.toThrow(/not a database/)
  expect(openFiles(folder.path)).toEqual([])
})

/** Returns the files below a folder that this process holds open (Linux tells). */
function openFiles(folder: string): string[] {
  const handles = existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd') : []
  return handles
    .map(handle => `/proc/self/fd/${handle}`)
    .flatMap(path => (existsSync(path) ? [readlinkSync(path)] : []))
    .filter(path => path.startsWith(folder))
}

test('the store and all that lies beside it are private in a folder that everybody may read', async () => {
  using folder = makeTempFolder()
  chmodSync(folder.path, 0o755)
  mkdirSync(join(folder.path, 'backups'))
  for (const name of ['superbloom.db', 'superbloom.db-wal', 'backups/old.db']) {
    writeFileSync(join(folder.path, name), '')
    chmodSync(join(folder.path, name), 0o644)
  }
  using _lock = lockFolder(folder.path)
  await using store = await openStore(folder.path)
  await store.write(async tx => tx.selectFrom('threads').select('id').execute())
  await backUp(folder.path, 0)
  const files = readdirSync(folder.path, { recursive: true, withFileTypes: true }).filter(one => one.isFile())
  const modes = files.map(one => [
    one.name,
    (statSync(join(one.parentPath, one.name)).mode & 0o777).toString(8),
  ])
  expect(modes.length).toBeGreaterThanOrEqual(6)
  expect(modes).toEqual(modes.map(([name]) => [name, '600']))
})
