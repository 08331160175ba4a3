import { join } from 'node:path'
import Database from 'better-sqlite3'
import { Kysely, SqliteDialect, sql } from 'kysely'
import { expect, test } from 'vitest'
import { makeTempFolder } from '../../tests/support/temp-store.ts'
import { openStore } from './open.ts'
import { openSqlite } from './sqlite.ts'
import { createWriter } from './sqlite-writer.ts'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

/** Opens a writer on a real file, with every statement that reached SQLite. */
function openWriter() {
  const folder = makeTempFolder()
  const statements: string[] = []
  const database = new Database(join(folder.path, 'test.db'), {
    verbose: text => statements.push(String(text)),
  })
  database.pragma('journal_mode = WAL')
  database.pragma('foreign_keys = ON')
  database.exec('create table parent (id integer primary key)')
  database.exec(
    'create table note (id integer primary key, text text unique, parent integer references parent deferrable initially deferred)',
  )
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) })
  const add =
    (text: string, parent: number | null = null) =>
    async (tx: Tx) => {
      await sql`insert into note (text, parent) values (${text}, ${parent})`.execute(tx)
      return text
    }
  const notes = async () => {
    const { rows } = await sql<{ text: string }>`select text from note order by id`.execute(db)
    return rows.map(row => row.text)
  }
  const count = (word: string) => statements.filter(text => text.toLowerCase() === word).length
  return {
    write: createWriter(db),
    add,
    notes,
    count,
    async [Symbol.asyncDispose]() {
      await db.destroy()
      folder[Symbol.dispose]()
    },
  }
}

test('promise 1: writes that arrive together share one commit, in order, and resolve after it', async () => {
  await using store = openWriter()
  const texts = Array.from({ length: 100 }, (_, index) => `n${index}`)
  const done: string[] = []
  await Promise.all(
    texts.map(async text => {
      done.push(await store.write(store.add(text)))
      expect(store.count('commit')).toBe(1)
    }),
  )
  expect([await store.notes(), done]).toEqual([texts, texts])
  expect([store.count('begin'), store.count('commit')]).toEqual([1, 1])
})

test('one at a time each has a commit of its own', async () => {
  await using store = openWriter()
  for (const text of ['a', 'b', 'c']) await store.write(store.add(text))
  expect(store.count('commit')).toBe(3)
})

test('what arrives while others are written comes with the next commit', async () => {
  await using store = openWriter()
  const inner: Promise<unknown>[] = []
  await store.write(async tx => {
    inner.push(store.write(store.add('later')), store.write(store.add('too')))
    return store.add('first')(tx)
  })
  await Promise.all(inner)
  expect([await store.notes(), store.count('commit')]).toEqual([['first', 'later', 'too'], 2])
})

test('very many are spread over several commits', async () => {
  await using store = openWriter()
  await Promise.all(Array.from({ length: 600 }, (_, index) => store.write(store.add(`n${index}`))))
  expect([(await store.notes()).length, store.count('commit')]).toEqual([600, 3])
})

test('a write that fails is undone alone and rejects alone', async () => {
  await using store = openWriter()
  const failing = async (tx: Tx) => {
    await store.add('half')(tx)
    throw new Error('no')
  }
  const results = await Promise.allSettled([
    store.write(store.add('a')),
    store.write(failing),
    store.write(store.add('a')),
    store.write(store.add('b')),
  ])
  expect(
    results.map(result => (result.status === 'fulfilled' ? result.value : String(result.reason))),
  ).toEqual(['a', 'Error: no', expect.stringContaining('UNIQUE constraint failed'), 'b'])
  expect([await store.notes(), store.count('commit')]).toEqual([['a', 'b'], 1])
  await expect(store.write(failing)).rejects.toThrow('no')
  expect(await store.notes()).toEqual(['a', 'b'])
})

test('promise 1: a commit that fails rejects all that shared it, and the next one goes on', async () => {
  await using store = openWriter()
  const results = await Promise.allSettled([
    store.write(store.add('a')),
    store.write(store.add('orphan', 99)),
    store.write(store.add('b')),
  ])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(await store.notes()).toEqual([])
  await expect(store.write(store.add('orphan', 99))).rejects.toThrow('FOREIGN KEY')
  expect(await store.write(store.add('c'))).toBe('c')
  expect(await store.notes()).toEqual(['c'])
})

test('promise 1: the store itself syncs every commit to the disk', async () => {
  using folder = makeTempFolder()
  const db = openSqlite(folder.path)
  const pragma = async (name: string) =>
    (await sql.raw<Record<string, unknown>>(`pragma ${name}`).execute(db)).rows[0]
  expect([await pragma('journal_mode'), await pragma('synchronous'), await pragma('foreign_keys')]).toEqual([
    { journal_mode: 'wal' },
    { synchronous: 2 },
    { foreign_keys: 1 },
  ])
  await db.destroy()
})

test.for([
  [['disk'], 2],
  [['relaxed'], 1],
  [['relaxed', 'disk'], 2],
  [['relaxed', 'disk', 'relaxed', 'disk', 'disk', 'relaxed', 'disk'], 2],
  [['relaxed', 'disk', 'relaxed', 'relaxed'], 1],
] as const)('promise 1: after %j a commit waits for the disk: %i', async ([durabilities, level]) => {
  using folder = makeTempFolder()
  await using store = await openStore(folder.path)
  for (const [at, durability] of durabilities.entries()) {
    const row = { name: `${at}`, retired_at: null, created_at: 1 }
    await store.write(tx => tx.insertInto('agents').values(row).execute(), durability)
  }
  const { rows } = await sql.raw('pragma synchronous').execute(store.db)
  expect(rows).toEqual([{ synchronous: level }])
})

test('promise 1: one that needs the disk takes those along that came with it', async () => {
  using folder = makeTempFolder()
  await using store = await openStore(folder.path)
  const add = (name: string, durability: 'disk' | 'relaxed') =>
    store.write(
      tx => tx.insertInto('agents').values({ name, retired_at: null, created_at: 1 }).execute(),
      durability,
    )
  await add('first', 'relaxed')
  await Promise.all([add('a', 'relaxed'), add('b', 'disk')])
  const { rows } = await sql.raw('pragma synchronous').execute(store.db)
  expect(rows).toEqual([{ synchronous: 2 }])
})
