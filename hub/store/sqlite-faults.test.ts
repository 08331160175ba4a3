import { closeSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { makeTempFolder, openTempStore } from '../../tests/support/temp-store.ts'
import { openStore, type Store } from './open.ts'
import { ensureMainThread, listThreads } from './threads.ts'

const addThread = ({ write }: Store, agent: string) => write(tx => ensureMainThread(tx, agent, 0))
const agentsIn = async ({ db }: Store) => (await listThreads(db)).map(({ agent }) => agent)

/** Opens a second connection, which to SQLite is another process, that holds the lock for writing. */
function lock(folder: string) {
  const other = new Database(join(folder, 'superbloom.db'))
  other.exec('begin immediate')
  return {
    free: () => void other.exec('commit'),
    [Symbol.dispose]: () => void other.close(),
  }
}

test('a write waits for another process that holds the lock, and nothing else does', async () => {
  await using store = await openTempStore()
  using other = lock(store.folder)
  let isWritten = false
  const written = Promise.all([addThread(store, 'a'), addThread(store, 'b')]).then(() => {
    isWritten = true
  })
  for (let turn = 0; turn < 20; turn++) {
    expect(await agentsIn(store)).toEqual([])
    expect(isWritten).toBe(false)
  }
  other.free()
  await written
  expect(await agentsIn(store)).toEqual(['a', 'b'])
})

test('a lock that outlasts the wait refuses the write, says why, and the next one goes through', async () => {
  await using store = await openTempStore()
  using other = lock(store.folder)
  await expect(addThread(store, 'a')).rejects.toMatchObject({
    code: 'unavailable',
    kind: 'locked',
    message: expect.stringContaining('Another process keeps superbloom.db locked, so nothing was stored'),
  })
  other.free()
  await addThread(store, 'b')
  expect(await agentsIn(store)).toEqual(['b'])
})

test('a full database refuses all of a commit, says why, and goes on once there is room', async () => {
  await using store = await openTempStore()
  await addThread(store, 'before')
  await sql`pragma max_page_count = 1`.execute(store.db)
  const large = (agent: string) =>
    store.write(async tx => {
      await ensureMainThread(tx, agent, 0)
      await sql`insert into hub_state (key, value_json) values (${agent}, ${'x'.repeat(100_000)})`.execute(tx)
    })
  const refused = { status: 'rejected', reason: { code: 'unavailable', kind: 'full' } }
  const together = await Promise.allSettled([addThread(store, 'small'), large('large'), large('larger')])
  expect(together).toMatchObject([refused, refused, refused])
  expect(await Promise.allSettled([large('alone')])).toMatchObject([refused])
  expect(await agentsIn(store)).toEqual(['before'])

  await sql`pragma max_page_count = 1000000`.execute(store.db)
  await large('after')
  expect(await agentsIn(store)).toEqual(['after', 'before'])
})

/** Copies the files as a killed hub leaves them: the store is open meanwhile. */
async function copyInUse(to: string, agents: readonly string[]) {
  await using store = await openTempStore()
  for (const agent of agents) await addThread(store, agent)
  for (const file of ['superbloom.db', 'superbloom.db-wal']) {
    writeFileSync(join(to, file), readFileSync(join(store.folder, file)))
  }
}

function spoil(file: string, at: number): void {
  const opened = openSync(file, 'r+')
  writeSync(opened, Buffer.alloc(64, 0xa5), 0, 64, at)
  closeSync(opened)
}

test('a damaged last page of the WAL takes the last commit with it and nothing else', async () => {
  using folder = makeTempFolder()
  await copyInUse(folder.path, ['a', 'b', 'c'])
  const wal = join(folder.path, 'superbloom.db-wal')
  spoil(wal, statSync(wal).size - 2_000)
  await using store = await openStore(folder.path)
  expect(await agentsIn(store)).toEqual(['a', 'b'])
  await addThread(store, 'd')
  const [row] = (await sql<{ integrity_check: string }>`pragma integrity_check`.execute(store.db)).rows
  expect([row?.integrity_check, await agentsIn(store)]).toEqual(['ok', ['a', 'b', 'd']])
})

test.each([
  { what: 'is no database', at: 0 },
  { what: 'has a damaged schema', at: 100 },
])('a file that $what is not opened, and the error says what to do', async ({ at }) => {
  using folder = makeTempFolder()
  await (await openStore(folder.path))[Symbol.asyncDispose]()
  spoil(join(folder.path, 'superbloom.db'), at)
  await expect(openStore(folder.path)).rejects.toMatchObject({
    code: 'unavailable',
    kind: 'damaged',
    message: expect.stringContaining('put a backup back with'),
  })
})
