import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { makeTempFolder } from '../../tests/support/temp-store.ts'
import { backUp, restore } from './backup.ts'
import { appendMessage } from './conversations.ts'
import { readEventFeed } from './events.ts'
import { migrations } from './migrations/index.ts'
import { openStore, type Store } from './open.ts'
import { lockFolder } from './sqlite.ts'

const NOW = Date.parse('2026-11-22T08:09:10.123Z')

const say = (store: Store, text: string) =>
  store.write(tx =>
    appendMessage(tx, {
      id: `msg_${text}`,
      conversation: 'homelab',
      kind: 'user',
      author: 'alex',
      text,
      at: 1,
    }),
  )

async function withStore<Result>(folder: string, job: (store: Store) => Promise<Result>): Promise<Result> {
  await using store = await openStore(folder)
  return await job(store)
}

const textsOf = (folder: string) =>
  withStore(folder, async ({ db }) => {
    const rows = await db.selectFrom('messages').select('text').orderBy('seq').execute()
    return rows.map(row => row.text)
  })

test('a backup taken while the store is written to is whole, private, and one file', async () => {
  using folder = makeTempFolder()
  await using store = await openStore(folder.path)
  await say(store, 'before')
  let goesOn = true
  let written = 0
  const writing = (async () => {
    while (goesOn) {
      await say(store, `meanwhile ${written++} ${'x'.repeat(3_000)}`)
      await setImmediate()
    }
  })()
  const backup = backUp(folder.path, NOW)
  await Promise.allSettled([backup])
  goesOn = false
  await writing
  const copy = await backup
  expect(copy.file).toBe(join(folder.path, 'backups', 'superbloom-20261122-080910.db'))
  expect(readdirSync(join(folder.path, 'backups'))).toEqual(['superbloom-20261122-080910.db'])
  expect(statSync(copy.file)).toMatchObject({ size: copy.bytes, mode: 0o100600 })
  const database = new Database(copy.file, { readonly: true })
  const [row] = database.prepare('select count(*) as messages, max(seq) as last from messages').all()
  database.close()
  expect(row).toEqual({ messages: copy.rows['messages'], last: copy.rows['messages'] })
})

test('a restore brings back what was, keeps what is, and can be undone', async () => {
  using folder = makeTempFolder()
  await withStore(folder.path, store => say(store, 'old'))
  const { file } = await backUp(folder.path, NOW, join(folder.path, 'elsewhere', 'mine.db'))
  await withStore(folder.path, store => say(store, 'new'))
  const restored = await restore(folder.path, file, NOW)
  expect(restored).toMatchObject({ file, rows: { messages: 1 }, canBeUndone: true })
  expect(restored.before).toBe(join(folder.path, 'superbloom.db.before-restore-20261122-080910'))
  expect(await textsOf(folder.path)).toEqual(['old'])
  const again = await restore(folder.path, restored.before ?? '', NOW)
  expect(again.before).toBe(`${restored.before}-2`)
  expect(await textsOf(folder.path)).toEqual(['old', 'new'])
})

test('after a restore the feed of events is another stream, over restarts it is the same', async () => {
  using folder = makeTempFolder()
  const streamOf = () => withStore(folder.path, async ({ db }) => (await readEventFeed(db)).stream)
  const stream = await streamOf()
  expect(await streamOf()).toBe(stream)
  const { file } = await backUp(folder.path, NOW)
  await restore(folder.path, file, NOW)
  expect(await streamOf()).not.toBe(stream)
})

test('a restore where there is no store yet', async () => {
  using folder = makeTempFolder()
  using other = makeTempFolder()
  await withStore(folder.path, store => say(store, 'old'))
  const { file } = await backUp(folder.path, NOW)
  expect((await restore(other.path, file, NOW)).before).toBeUndefined()
  expect(await textsOf(other.path)).toEqual(['old'])
})

test('what a kill left in the log goes aside with the store, and never into the restored one', async () => {
  using folder = makeTempFolder()
  await withStore(folder.path, store => say(store, 'old'))
  const { file } = await backUp(folder.path, NOW)
  const database = join(folder.path, 'superbloom.db')
  await withStore(folder.path, async store => {
    await say(store, 'in the log')
    // The copies are as kill -9 leaves them: the log lies beside the file.
    for (const suffix of ['', '-wal'])
      writeFileSync(`${file}.killed${suffix}`, readFileSync(`${database}${suffix}`))
  })
  for (const suffix of ['', '-wal'])
    writeFileSync(`${database}${suffix}`, readFileSync(`${file}.killed${suffix}`))
  const { before = '' } = await restore(folder.path, file, NOW)
  expect(existsSync(`${database}-wal`)).toBe(false)
  expect(await textsOf(folder.path)).toEqual(['old'])
  await restore(folder.path, before, NOW + 1_000)
  expect(await textsOf(folder.path)).toEqual(['old', 'in the log'])
})

test('a store that is damaged is replaced too, and kept as it lies there', async () => {
  using folder = makeTempFolder()
  await withStore(folder.path, store => say(store, 'old'))
  const { file } = await backUp(folder.path, NOW)
  const rubbish = 'this was a database once '.repeat(500)
  writeFileSync(join(folder.path, 'superbloom.db'), rubbish)
  writeFileSync(join(folder.path, 'superbloom.db-wal'), 'its log')
  const { before = '', canBeUndone } = await restore(folder.path, file, NOW)
  expect(canBeUndone).toBe(false)
  expect(await textsOf(folder.path)).toEqual(['old'])
  expect(readFileSync(before, 'utf8')).toBe(rubbish)
  expect(existsSync(join(folder.path, 'superbloom.db-wal'))).toBe(false)
})

test.each([
  ['an empty file', ''],
  ["another program's database", 'create table notes (text)'],
])('a restore in the place of %s cannot be undone', async (_what, statement) => {
  using folder = makeTempFolder()
  using other = makeTempFolder()
  await withStore(folder.path, store => say(store, 'old'))
  const { file } = await backUp(folder.path, NOW)
  const foreign = new Database(join(other.path, 'superbloom.db'))
  foreign.exec(statement)
  foreign.close()
  expect(await restore(other.path, file, NOW)).toMatchObject({
    before: expect.any(String),
    canBeUndone: false,
  })
})

test('while a hub holds the folder a restore is refused, and nothing is touched', async () => {
  using folder = makeTempFolder()
  await withStore(folder.path, store => say(store, 'old'))
  const { file } = await backUp(folder.path, NOW)
  await withStore(folder.path, store => say(store, 'new'))
  {
    using _hub = lockFolder(folder.path)
    await expect(restore(folder.path, file, NOW)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('Stop it first'),
    })
  }
  expect(await textsOf(folder.path)).toEqual(['old', 'new'])
})

const damage = (file: string) => {
  const bytes = readFileSync(file)
  bytes.fill(0x5a, 8_192, bytes.length - 4_096)
  writeFileSync(file, bytes)
}

test.each<[string, (file: string) => void, RegExp]>([
  ['is not there', () => undefined, /There is no file/],
  ['is empty', file => writeFileSync(file, ''), /no database of Superbloom/],
  ['is a letter', file => writeFileSync(file, 'dear database '.repeat(500)), /no database of Superbloom/],
  [
    "is another program's",
    file => new Database(file).exec('create table a (b)').close(),
    /no database of Superbloom/,
  ],
])('a backup that %s is refused', async (_what, make, words) => {
  using folder = makeTempFolder()
  await withStore(folder.path, store => say(store, 'here'))
  const file = join(folder.path, 'given.db')
  make(file)
  await expect(restore(folder.path, file, NOW)).rejects.toThrow(words)
  expect(await textsOf(folder.path)).toEqual(['here'])
  expect(
    readdirSync(folder.path).filter(name => name.includes('restor') || name.includes('partial')),
  ).toEqual([])
})

test('a backup that is damaged inside, or of a newer version, is refused', async () => {
  using folder = makeTempFolder()
  await withStore(folder.path, async store => {
    for (let count = 0; count < 30; count++) await say(store, `${count} ${'x'.repeat(4_000)}`)
  })
  const { file } = await backUp(folder.path, NOW)
  const newer = new Database(file)
  newer.exec("insert into kysely_migration values ('999-later', '2030-01-01')")
  newer.close()
  await expect(restore(folder.path, file, NOW)).rejects.toThrow(
    /newer version of Superbloom wrote .*999-later/,
  )
  damage(file)
  await expect(restore(folder.path, file, NOW)).rejects.toThrow(/damaged/)
  expect(await textsOf(folder.path)).toHaveLength(30)
})

test('what a killed backup left is removed by a later one', async () => {
  using folder = makeTempFolder()
  await withStore(folder.path, store => say(store, 'old'))
  const backups = join(folder.path, 'backups')
  mkdirSync(backups)
  for (const name of ['a.db.partial', 'a.db.partial-journal', 'young.db.partial'])
    writeFileSync(join(backups, name), 'half')
  const long = new Date(NOW - 7_200_000)
  for (const name of ['a.db.partial', 'a.db.partial-journal']) utimesSync(join(backups, name), long, long)
  utimesSync(join(backups, 'young.db.partial'), new Date(NOW), new Date(NOW))
  await backUp(folder.path, NOW)
  expect(readdirSync(backups)).toEqual(['superbloom-20261122-080910.db', 'young.db.partial'])
})

/** Removes the newest migration, as if an earlier version had written the store. */
async function makeOlder(folder: string): Promise<string> {
  const newest = migrations.at(-1)?.name ?? ''
  await withStore(folder, store => say(store, 'old'))
  const database = new Database(join(folder, 'superbloom.db'))
  database.exec(`delete from kysely_migration where name = '${newest}'`)
  database.close()
  return newest
}

test('before a migration of a store that holds something it is backed up; few of those are kept', async () => {
  using folder = makeTempFolder()
  await withStore(folder.path, store => say(store, 'old'))
  expect(existsSync(join(folder.path, 'backups'))).toBe(false)
  const newest = await makeOlder(folder.path)
  const backups = join(folder.path, 'backups')
  mkdirSync(backups)
  for (const number of [1, 2, 3, 4, 5, 6]) {
    const file = join(backups, `before-00${number}-x.db`)
    writeFileSync(file, '')
    utimesSync(file, number, number)
  }
  writeFileSync(join(backups, 'superbloom-mine.db'), '')
  // The migration's tables are there already, so it fails: the backup is what is left.
  await expect(openStore(folder.path)).rejects.toThrow(`The store's migration ${newest} failed`)
  expect(readdirSync(backups).sort()).toEqual(
    [
      ...[3, 4, 5, 6].map(number => `before-00${number}-x.db`),
      `before-${newest}.db`,
      'superbloom-mine.db',
    ].sort(),
  )
  const copy = new Database(join(backups, `before-${newest}.db`), { readonly: true })
  expect(copy.prepare('select text from messages').pluck().all()).toEqual(['old', 'old'])
  copy.close()
})

test('a store of a newer version is refused in words, and stays as it is', async () => {
  using folder = makeTempFolder()
  await withStore(folder.path, store => say(store, 'old'))
  const database = new Database(join(folder.path, 'superbloom.db'))
  database.exec("insert into kysely_migration values ('999-later', '2030-01-01')")
  database.close()
  await expect(openStore(folder.path)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/newer version of Superbloom.*Start that version, or restore a backup/),
  })
})

test('what is there already is not overwritten: neither a backup, nor the store that runs, nor a folder', async () => {
  using folder = makeTempFolder()
  await using _store = await openStore(folder.path)
  const { file } = await backUp(folder.path, NOW, join(folder.path, 'mine.db'))
  for (const target of [file, join(folder.path, 'superbloom.db'), folder.path]) {
    await expect(backUp(folder.path, NOW, target)).rejects.toMatchObject({
      code: 'conflict',
      message: `${target} is there already, and stays as it is. Name a file that is not.`,
    })
  }
})
