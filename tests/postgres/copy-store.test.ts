import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { copyStore } from '../../hub/store/copy-store.ts'
import { openOwnStore, openPostgres, openStore, type Store, type StorePlace } from '../../hub/store/open.ts'
import { searchHistory } from '../../hub/store/search.ts'
import type { Tables } from '../../hub/store/tables.ts'
import { runCli } from '../support/cli.ts'
import { makeTempFolder } from '../support/temp-store.ts'
import { leadAlone, makeEmptyDatabase, server } from '../support/test-database.ts'

if (server === undefined) throw new Error('These tests need a PostgreSQL: npm run test:postgres')
const at = server
const FIXTURE = join(import.meta.dirname, '../../hub/store/migrations/fixtures/019-files.sql')

/** Makes a data folder whose store has rows in nearly every table, among them 3,000 messages and a file. */
async function fill(folder: string): Promise<void> {
  const database = new Database(join(folder, 'superbloom.db'))
  database.exec(readFileSync(FIXTURE, 'utf8'))
  database.close()
  await using store = await openStore(folder)
  await store.write(async tx => {
    await tx
      .insertInto('server_logins')
      .values({ server: 'lamp', login_json: '{"t":"ä ☕"}', saved_at: 5 })
      .execute()
    for (let seq = 10; seq < 3_010; seq++)
      await tx
        .insertInto('messages')
        .values({
          conversation_id: 'homelab',
          seq,
          id: `m_${seq}`,
          kind: 'agent',
          author: 'homelab',
          text: `Text ${seq} 😀 "'\\`,
          at: 1_795_334_400_000 + seq,
        })
        .execute()
    const content = Buffer.from([0, 255, 10, 13])
    await tx
      .insertInto('files')
      .values({ id: 'f', author: 'owner', name: 'a.bin', size: 4, content, text: 'read', created_at: 7 })
      .execute()
  })
}

const rowsOf = async (db: Kysely<Tables>) => ({
  messages: await db.selectFrom('messages').selectAll().orderBy('seq').execute(),
  inbox: await db.selectFrom('inbox').selectAll().orderBy('seq').execute(),
  files: await db.selectFrom('files').selectAll().orderBy('id').execute(),
  audit: await db.selectFrom('audit').selectAll().execute(),
  chain: await db.selectFrom('audit_chain').selectAll().execute(),
  logins: await db.selectFrom('server_logins').selectAll().execute(),
})

const openAs = async (place: StorePlace, stack: AsyncDisposableStack, acceptLoss = false): Promise<Store> =>
  openOwnStore(place, { log: leadAlone().log, acceptLoss, lead: leadAlone() }, stack)

const found = async (store: Store) =>
  (await searchHistory(store.db, { agent: 'homelab', query: 'NAS warm', limit: 5 })).length

test('a store is in PostgreSQL and back in SQLite what it was, and the old ones say where it went', async () => {
  using before = makeTempFolder()
  using after = makeTempFolder()
  using third = makeTempFolder()
  await using database = await makeEmptyDatabase(at)
  await fill(before.path)
  const variables = (path: string) => ({ SUPERBLOOM_DATA: path, SUPERBLOOM_STORE: database.url })
  const up = await runCli(['migrate', 'sqlite-to-postgres'], {
    cwd: before.path,
    variables: variables(before.path),
  })
  expect(up).toMatchObject({ code: 0, stderr: '' })
  expect(up.stdout).toMatch(/^messages: 3003 rows, copied and compared$/m)
  const there = await openStore(before.path)
  const rows = await rowsOf(there.db)
  expect(rows.messages).toHaveLength(3_003)
  await there[Symbol.asyncDispose]()
  await using old = new AsyncDisposableStack()
  await expect(openAs({ folder: before.path }, old)).rejects.toThrow(
    /was moved to PostgreSQL, postgres:\/\/127/,
  )
  {
    await using stack = new AsyncDisposableStack()
    const store = await openAs({ folder: after.path, url: database.url }, stack)
    expect(await rowsOf(store.db)).toEqual(rows)
    // What the database counts goes on above what was copied.
    const { seq } = await store.write(tx =>
      tx
        .insertInto('inbox')
        .values({
          thread_id: 'thr_homelab',
          source: 'chat',
          external_id: 'new',
          payload_json: '{}',
          conversation_id: null,
          created_at: 9,
          cycle_id: null,
          unanswered: null,
        })
        .returning('seq')
        .executeTakeFirstOrThrow(),
    )
    expect(seq).toBe(Math.max(...rows.inbox.map(row => row.seq)) + 1)
    expect(await found(store)).toBe(1)
  }
  const back = await runCli(['migrate', 'postgres-to-sqlite'], {
    cwd: after.path,
    variables: variables(after.path),
  })
  expect(back).toMatchObject({ code: 0, stderr: '' })
  await using stack = new AsyncDisposableStack()
  const store = await openAs({ folder: after.path }, stack)
  const { inbox, ...others } = await rowsOf(store.db)
  expect({ ...others, inbox: inbox.filter(({ external_id }) => external_id !== 'new') }).toEqual(rows)
  expect(await found(store)).toBe(1)
  await using moved = new AsyncDisposableStack()
  await expect(openAs({ folder: third.path, url: database.url }, moved)).rejects.toThrow(
    /was moved to SQLite/,
  )
})

test('a text with the character NUL, as in old rows, is copied without it, also in a key', async () => {
  using folder = makeTempFolder()
  await using database = await makeEmptyDatabase(at)
  await fill(folder.path)
  await using from = await openStore(folder.path)
  await using to = await openPostgres(database.url, leadAlone())
  const row = { owner: 'homelab', power: 'person', updated_at: 1 } as const
  const facts = [
    { ...row, scope: 'agent', key: 'a\0c', value: '1' },
    { ...row, scope: 'agent', key: 'ab', value: '2' },
  ] as const
  await from.write(async tx => {
    await tx.updateTable('messages').set({ text: 'Nothing\0 else' }).where('seq', '=', 20).execute()
    await tx.insertInto('context').values(facts).execute()
  })
  await copyStore(from, to, { place: 'there' })
  const told = await to.db.selectFrom('messages').select('text').where('seq', '=', 20).execute()
  expect(told).toEqual([{ text: 'Nothing else' }])
  const keys = await to.db
    .selectFrom('context')
    .select('key')
    .where('updated_at', '=', 1)
    .orderBy('key')
    .execute()
  expect(keys).toEqual([{ key: 'ab' }, { key: 'ac' }])
})

test('a copy that was cut goes on at the next table; until then no hub starts on it', async () => {
  using folder = makeTempFolder()
  using other = makeTempFolder()
  await using database = await makeEmptyDatabase(at)
  await fill(folder.path)
  const tables: [string, boolean][] = []
  const copy = async (cutAt?: string) => {
    await using from = await openStore(folder.path)
    await using to = await openPostgres(database.url, leadAlone())
    await copyStore(from, to, {
      place: 'there',
      onTable({ table, wasThere }) {
        tables.push([table, wasThere])
        if (table === cutAt) throw new Error('cut')
      },
    })
  }
  await expect(copy('history')).rejects.toThrow('cut')
  {
    await using stack = new AsyncDisposableStack()
    const opened = openAs({ folder: other.path, url: database.url }, stack)
    await expect(opened).rejects.toThrow(/was cut. Go on with it/)
  }
  await copy()
  const again = tables.slice(tables.findIndex(([table]) => table === 'history') + 1)
  expect(again.filter(([, wasThere]) => wasThere).map(([table]) => table)).toContain('history')
  expect(again.find(([table]) => table === 'messages')).toEqual(['messages', false])
})

test('a store that holds something is not copied into, and a row that differs is found', async () => {
  using folder = makeTempFolder()
  await using database = await makeEmptyDatabase(at)
  await fill(folder.path)
  await using from = await openStore(folder.path)
  await using to = await openPostgres(database.url, leadAlone())
  const spoil = () => to.write(tx => tx.updateTable('agents').set({ created_at: 99 }).execute())
  const cut = copyStore(from, to, {
    place: 'there',
    onTable: () => {
      throw new Error('cut')
    },
  })
  await expect(cut).rejects.toThrow('cut')
  await spoil()
  await expect(copyStore(from, to, { place: 'there' })).rejects.toThrow(
    /The table agents of there is not what it was copied from/,
  )
  await using full = await openStore(folder.path)
  await expect(copyStore(from, full, { place: 'here' })).rejects.toThrow(/here holds something already/)
})
