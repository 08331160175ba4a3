import {
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { makeTempFolder } from '../../tests/support/temp-store.ts'
import { backUp, restore } from './backup.ts'
import { appendMessage } from './conversations.ts'
import { openStore, type Store } from './open.ts'
import { lockFolder } from './sqlite.ts'
import { describeLoss, findLoss, wasUsed } from './store-loss.ts'

const NOW = Date.parse('2026-11-22T08:09:10Z')

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

/** Opens a folder with a store of so many messages; `inCopy` names what a killed process leaves behind. */
async function openUsed(messages = 40) {
  const folder = makeTempFolder()
  const copied = makeTempFolder()
  const inCopy = (name: string) => join(copied.path, name)
  lockFolder(folder.path)[Symbol.dispose]()
  writeFileSync(join(folder.path, 'token'), 'a-token')
  {
    await using store = await openStore(folder.path)
    for (let index = 0; index < messages; index++) await say(store, `${index}`)
    for (const name of ['lock.db', 'token', 'store.json', 'superbloom.db', 'superbloom.db-wal'])
      copyFileSync(join(folder.path, name), inCopy(name))
  }
  folder[Symbol.dispose]()
  const { path } = copied
  return {
    path,
    inCopy,
    loss: () => findLoss(path, wasUsed(path)),
    messages() {
      const database = new Database(inCopy('superbloom.db'), { readonly: true })
      const count = database.prepare('select count(*) from messages').pluck().get()
      database.close()
      return count
    },
    [Symbol.dispose]: copied[Symbol.dispose],
  }
}

/** Writes over the middle of a file. */
function damage(file: string): void {
  writeSync(openSync(file, 'r+'), 'damaged!', Math.floor(statSync(file).size / 2))
}

test('a folder that no hub used, and one that was killed, have lost nothing', async () => {
  using fresh = makeTempFolder()
  expect(findLoss(fresh.path, wasUsed(fresh.path))).toBeUndefined()
  writeFileSync(join(fresh.path, 'token'), 'made by a person before the first start')
  expect(findLoss(fresh.path, wasUsed(fresh.path))).toBeUndefined()
  using used = await openUsed()
  expect(used.loss()).toBeUndefined()
  expect(used.messages()).toBe(40)
})

test('a damaged write-ahead log that loses messages is noticed, and stays as it is', async () => {
  using used = await openUsed()
  damage(used.inCopy('superbloom.db-wal'))
  const bytes = readFileSync(used.inCopy('superbloom.db-wal'))
  const loss = used.loss()
  const left = Number(used.messages())
  expect(left).toBeLessThan(40)
  expect(loss).toEqual({ kind: 'behind', commits: 40 - left, damage: undefined })
  expect(readFileSync(used.inCopy('superbloom.db-wal')).equals(bytes)).toBe(true)
})

test('a write-ahead log that is gone is noticed', async () => {
  using used = await openUsed(3)
  rmSync(used.inCopy('superbloom.db-wal'))
  expect(used.loss()?.kind).toBe('empty')
})

test.for(['missing', 'empty'] as const)('a database that is %s in a used folder is noticed', async kind => {
  using used = await openUsed(3)
  rmSync(used.inCopy('superbloom.db-wal'))
  rmSync(used.inCopy('superbloom.db'))
  if (kind === 'empty') writeFileSync(used.inCopy('superbloom.db'), '')
  expect(used.loss()).toEqual({ kind })
  // A folder of an older version has no mark.
  rmSync(used.inCopy('store.json'))
  expect(used.loss()).toEqual({ kind })
})

test('an older copy in its place is noticed, a restored backup is right, and the newest backup is named', async () => {
  using used = await openUsed(3)
  const { file } = await backUp(used.path, NOW)
  {
    await using store = await openStore(used.path)
    await say(store, 'newer')
  }
  copyFileSync(file, used.inCopy('superbloom.db'))
  const loss = used.loss()
  expect(loss).toEqual({ kind: 'behind', commits: 1, damage: undefined })
  if (!loss) throw new Error('Nothing is lost')
  expect(describeLoss(used.path, loss)).toContain(`superbloom restore ${file}`)
  await restore(used.path, file, NOW)
  expect(used.loss()).toBeUndefined()
})

test('a mark that a loss of power made unreadable says nothing', async () => {
  using used = await openUsed(3)
  writeFileSync(used.inCopy('store.json'), Buffer.alloc(32))
  expect(used.loss()).toBeUndefined()
})

test('what is accepted once is no loss afterwards', async () => {
  using used = await openUsed()
  damage(used.inCopy('superbloom.db-wal'))
  expect(used.loss()).toBeDefined()
  await (await openStore(used.path))[Symbol.asyncDispose]()
  expect(used.loss()).toBeUndefined()
  expect(existsSync(used.inCopy('store.json'))).toBe(true)
})

test('a mark that cannot be written is told once, and the store goes on', async () => {
  using folder = makeTempFolder()
  mkdirSync(join(folder.path, 'store.json'))
  const faults: unknown[] = []
  await using store = await openStore(folder.path, error => faults.push(error))
  await say(store, 'one')
  await say(store, 'two')
  expect(faults).toEqual([expect.objectContaining({ code: 'EISDIR' })])
})

test('promise 1: a store whose file is gone or another accepts nothing, and goes on once it is back', async () => {
  using folder = makeTempFolder()
  const file = join(folder.path, 'superbloom.db')
  await using store = await openStore(folder.path)
  await say(store, 'one')
  expect(store.findProblem()).toBeUndefined()
  renameSync(file, `${file}.aside`)
  for (const put of [() => undefined, () => copyFileSync(`${file}.aside`, file)]) {
    put()
    await expect(say(store, 'two')).rejects.toThrow(/superbloom\.db was deleted, moved or replaced/)
    expect(store.findProblem()).toContain('superbloom restore')
  }
  renameSync(`${file}.aside`, file)
  await say(store, 'two')
  const messages = await store.db.selectFrom('messages').select('text').execute()
  expect(messages.map(({ text }) => text)).toEqual(['one', 'two'])
})
