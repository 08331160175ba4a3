import { sql } from 'kysely'
import pg from 'pg'
import { expect, test } from 'vitest'
import { dialectOf } from '../../hub/store/dialect.ts'
import { openPostgres, openStoreToRead, type Store } from '../../hub/store/open.ts'
import { StoreFault } from '../../hub/store/writer.ts'
import { leadAlone, makeDatabase, makeEmptyDatabase, server } from '../support/test-database.ts'
import { openCuttingProxy } from './cutting-proxy.ts'
import { dumpSchema } from './dump-schema.ts'

if (server === undefined) throw new Error('These tests need a PostgreSQL: npm run test:postgres')
const at = server

const add = ({ write }: Pick<Store, 'write'>, name: string) =>
  write(async tx => {
    await tx.insertInto('agents').values({ name, retired_at: null, created_at: 1 }).execute()
    return name
  })

const names = async ({ db }: Pick<Store, 'db'>) =>
  (await db.selectFrom('agents').select('name').orderBy('name').execute()).map(({ name }) => name)

async function ask<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

test('the schema that all migrations make together is the one that is committed', async () => {
  await using database = await makeEmptyDatabase(at)
  await using store = await openPostgres(database.url, leadAlone())
  await expect(await dumpSchema(store.db)).toMatchFileSnapshot('../../hub/store/schema.postgres.sql')
})

test.each([
  ['before', ['a', 'c']],
  ['after', ['a', 'b', 'c']],
] as const)('promise 1: a commit whose connection breaks %s it is as it was told', async (when, stored) => {
  await using database = await makeDatabase(at)
  const { port, pathname, username } = new URL(database.url)
  await using proxy = await openCuttingProxy(Number(port))
  await using store = await openPostgres(
    `postgres://${username}@127.0.0.1:${proxy.port}${pathname}`,
    leadAlone(),
  )
  await add(store, 'a')
  void proxy.cut('commit', when)
  const outcome = await add(store, 'b').catch((error: unknown) => error)
  if (when === 'after') expect(outcome).toBe('b')
  else
    expect(outcome).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('nothing was stored'),
    })
  await add(store, 'c')
  expect(await names(store)).toEqual(stored)
})

test('promise 1: where nobody can tell what became of a commit, the hub ends', async () => {
  await using database = await makeDatabase(at)
  const { port, pathname, username } = new URL(database.url)
  await using proxy = await openCuttingProxy(Number(port))
  const taken = Promise.withResolvers<string>()
  await using store = await openPostgres(
    `postgres://${username}@127.0.0.1:${proxy.port}${pathname}`,
    leadAlone(taken.resolve),
  )
  void proxy.cut('commit', 'before')
  const outcome = store.write(async tx => {
    await tx.selectFrom('agents').selectAll().execute()
    proxy.refuse(true)
  })
  await expect(outcome).rejects.toBeInstanceOf(StoreFault)
  expect(await taken.promise).toMatch(/ends\.$/)
})

test.each(['40001', '40P01'])(
  'a commit that fails with %s is made again, once for all of its jobs',
  async code => {
    await using database = await makeDatabase(at)
    await using store = await openPostgres(database.url, leadAlone())
    await ask(
      database.url,
      `create sequence tries; create function refuse() returns trigger language plpgsql as $$ begin
      if nextval('tries') = 1 then raise exception 'not now' using errcode = '${code}'; end if; return new; end $$;
    create trigger refuse before insert on agents for each row execute function refuse()`,
    )
    expect(await Promise.all([add(store, 'a'), add(store, 'b')])).toEqual(['a', 'b'])
    expect(await names(store)).toEqual(['a', 'b'])
    await ask(database.url, 'drop trigger refuse on agents; drop function refuse; drop sequence tries')
  },
)

test('a write that fails is undone alone and rejects alone', async () => {
  await using database = await makeDatabase(at)
  await using store = await openPostgres(database.url, leadAlone())
  const results = await Promise.allSettled(['a', 'a', 'b'].map(name => add(store, name)))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  await expect(add(store, 'b')).rejects.toThrow(/duplicate key/)
  expect(await names(store)).toEqual(['a', 'b'])
})

test('promise 1: a commit waits for the disk, unless all of it may be done again', async () => {
  await using database = await makeDatabase(at)
  await using store = await openPostgres(database.url, leadAlone())
  const waits = (durability: 'disk' | 'relaxed') =>
    store.write(
      async tx =>
        (
          await sql<{ value: string }>`
      select current_setting('synchronous_commit') as value`.execute(tx)
        ).rows[0]?.value,
      durability,
    )
  expect([await waits('disk'), await waits('relaxed'), await waits('disk')]).toEqual(['on', 'off', 'on'])
  expect(await Promise.all([waits('relaxed'), waits('disk')])).toEqual(['on', 'on'])
})

test('texts are in the order of their bytes, whatever the locale of the database', async () => {
  await using database = await makeEmptyDatabase(at, "template template0 locale_provider icu icu_locale 'en'")
  await using store = await openPostgres(database.url, leadAlone())
  for (const name of ['a', 'B', 'ä', '_', 'Z']) await add(store, name)
  expect(await names(store)).toEqual(['B', 'Z', '_', 'a', 'ä'])
})

test('of several hosts the first that answers is used', async () => {
  await using database = await makeDatabase(at)
  const url = database.url.replace('@', '@127.0.0.1:1,')
  await using store = await openPostgres(url, leadAlone())
  expect(await add(store, 'a')).toBe('a')
})

test('a server that nobody reaches is named without the password', async () => {
  const opened = openPostgres(
    'postgres://hub:swordfish@127.0.0.1:1,127.0.0.1:2/superbloom?sslmode=disable',
    leadAlone(),
  )
  const error = await opened.catch((caught: unknown) => caught)
  expect(error).toMatchObject({ kind: 'unreachable' })
  expect(String(error)).toMatch(/postgres:\/\/127\.0\.0\.1:1,127\.0\.0\.1:2\/superbloom cannot be used/)
  expect(String(error)).not.toContain('swordfish')
})

test.each([
  ['create table other (id int)', 'has tables of another program'],
  [
    "create table kysely_migration (name text, timestamp text); insert into kysely_migration values ('999-later', '')",
    'newer version',
  ],
])("a database that is not this hub's is refused, and stays as it is: %s", async (made, why) => {
  await using database = await makeEmptyDatabase(at)
  await ask(database.url, made)
  const tables = () => ask(database.url, "select tablename from pg_tables where schemaname = 'public'")
  const before = await tables()
  await expect(openPostgres(database.url, leadAlone())).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining(why),
  })
  expect(await tables()).toEqual(before)
})

test('a database with another encoding is refused', async () => {
  await using database = await makeEmptyDatabase(at, "template template0 encoding 'SQL_ASCII' locale 'C'")
  await expect(openPostgres(database.url, leadAlone())).rejects.toThrow(/stores texts as SQL_ASCII/)
})

test('what only reads needs no lock, and makes no store', async () => {
  await using database = await makeDatabase(at)
  await using store = await openPostgres(database.url, leadAlone())
  await add(store, 'a')
  const db = await openStoreToRead({ folder: '', url: database.url })
  expect(await names({ db })).toEqual(['a'])
  await db.destroy()
  await using empty = await makeEmptyDatabase(at)
  await expect(openStoreToRead({ folder: '', url: empty.url })).rejects.toMatchObject({ code: 'not_found' })
})

test.each([
  [['needle'], 1],
  [['10 0 0 7'], 1],
  [['10 0 0 8'], 0],
  [['needle', 'nowhere'], 0],
  [['need'], 1],
])('promise 8: in a text of many words %j is found %i times', async (phrases, count) => {
  await using database = await makeDatabase(at)
  await using store = await openPostgres(database.url, leadAlone())
  const { toIndexed, searchTexts } = dialectOf(store.db)
  const text = toIndexed(`${'filler '.repeat(20_000)} Nëedle at 10.0.0.7 ${'more '.repeat(200_000)}`)
  await store.write(tx =>
    tx.insertInto('history_texts').values({ thread_id: 'thr', seq: 1, created_at: 1, text }).execute(),
  )
  expect((await searchTexts(phrases, 'all').execute(store.db)).rows).toHaveLength(count)
})
