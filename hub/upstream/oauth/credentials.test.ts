import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFakeClock } from '../../../tests/support/fake-clock.ts'
import { openTempStore, type TempStore } from '../../../tests/support/temp-store.ts'
import { createLog } from '../../core/log.ts'
import { readServerLogins } from '../../store/server-logins.ts'
import { type Credentials, openCredentialStore } from './credentials.ts'

const URL_OF_IT = 'https://example.org/mcp'
const KEPT: Credentials = {
  url: URL_OF_IT,
  client: { client_id: 'me', client_secret: 'hush', issuer: 'https://people.example' },
  tokens: { access_token: 'a', token_type: 'Bearer', refresh_token: 'r', issuer: 'https://people.example' },
  renewAt: 17,
}

let store: TempStore
let lines: string[]
beforeEach(async () => {
  store = await openTempStore()
  lines = []
})
afterEach(() => store[Symbol.asyncDispose]())

const clock = createFakeClock()
const log = createLog({ level: 'debug', now: clock.now, write: line => lines.push(line) })

/** Opens the logins as a start of the hub does. */
const open = () => openCredentialStore({ store, clock, log, dataFolder: store.folder })

const fileOf = (server: string, folder = 'oauth') => join(store.folder, folder, `${server}.json`)

/** Writes a file as an earlier version did, at a time in milliseconds. */
function writeLogin(server: string, kept: unknown, at = clock.now() - 1_000): void {
  mkdirSync(dirname(fileOf(server)), { recursive: true })
  writeFileSync(fileOf(server), typeof kept === 'string' ? kept : JSON.stringify(kept))
  utimesSync(fileOf(server), at / 1_000, at / 1_000)
}

const withToken = (access_token: string) => ({
  ...KEPT,
  tokens: { access_token, token_type: 'Bearer', issuer: 'https://people.example' },
})

/** Returns everything in the files of the store. */
const onDisk = () =>
  ['superbloom.db', 'superbloom.db-wal']
    .map(name => readFileSync(join(store.folder, name), 'latin1'))
    .join('\n')

test('what is kept is there for the same address only, and at the next start too', async () => {
  const before = await open()
  expect(before.read('lamp', URL_OF_IT)).toBeUndefined()
  await before.save('lamp', KEPT)
  for (const each of [before, await open()]) {
    expect(each.read('lamp', URL_OF_IT)).toEqual(KEPT)
    expect(each.read('lamp', 'https://example.org/other')).toBeUndefined()
    expect(each.read('other', URL_OF_IT)).toBeUndefined()
  }
})

test('forgotten, nothing of it is left, and nothing of what was renewed before', async () => {
  const kept = await open()
  // Tokens that are longer than a page leave it, and shorter ones after them leave pages free.
  const secrets = [20, 9_000, 200, 30_000, 40].map((length, n) => `secret-${n}-`.padEnd(length, `${n}`))
  for (const secret of secrets) await kept.save('lamp', withToken(secret))
  await kept.save('other', KEPT)
  const [newest = '', ...older] = secrets.toReversed()
  expect(onDisk()).toContain(newest)
  expect(older.filter(secret => onDisk().includes(secret.slice(0, 10)))).toEqual([])
  expect(await kept.forget('lamp')).toBe(true)
  expect(kept.read('lamp', URL_OF_IT)).toBeUndefined()
  expect(await kept.forget('lamp')).toBe(false)
  expect(onDisk()).not.toContain('secret-')
  expect(await readServerLogins(store.db)).toMatchObject([{ server: 'other' }])
})

test('who reads while a login is being forgotten finds none', async () => {
  const kept = await open()
  await kept.save('lamp', KEPT)
  const saved = kept.save('lamp', withToken('late'))
  const forgotten = kept.forget('lamp')
  expect(kept.read('lamp', URL_OF_IT)).toBeUndefined()
  await Promise.all([saved, forgotten])
  expect(kept.read('lamp', URL_OF_IT)).toBeUndefined()
  expect(await readServerLogins(store.db)).toEqual([])
})

test('the files of an earlier version are taken over once, and moved where it would find them', async () => {
  writeLogin('lamp', KEPT)
  writeLogin('heater', withToken('warm'))
  writeFileSync(`${fileOf('lamp')}.new`, '{"url": "htt')
  const kept = await open()
  expect(kept.read('lamp', URL_OF_IT)).toEqual(KEPT)
  expect(kept.read('heater', URL_OF_IT)).toEqual(withToken('warm'))
  expect(existsSync(dirname(fileOf('lamp')))).toBe(false)
  expect(readdirSync(join(store.folder, 'oauth.moved')).sort()).toEqual(['heater.json', 'lamp.json'])
  await kept.save('lamp', withToken('newer'))
  expect((await open()).read('lamp', URL_OF_IT)).toEqual(withToken('newer'))
})

test('a kill between the store and the move does no harm, also after a renewal', async () => {
  writeLogin('lamp', KEPT)
  const kept = await open()
  await kept.save('lamp', withToken('newer'))
  writeLogin('lamp', KEPT)
  expect((await open()).read('lamp', URL_OF_IT)).toEqual(withToken('newer'))
  expect(existsSync(fileOf('lamp'))).toBe(false)
})

test('a login that an earlier version made since counts', async () => {
  await (await open()).save('lamp', KEPT)
  writeLogin('lamp', withToken('made since'), clock.now() + 1_000)
  expect((await open()).read('lamp', URL_OF_IT)).toEqual(withToken('made since'))
})

test('files that cannot be moved are not taken twice', async () => {
  writeFileSync(join(store.folder, 'oauth.moved'), 'a file in the way')
  writeLogin('lamp', KEPT)
  const kept = await open()
  expect(lines.join()).toContain('login_files_not_moved')
  await kept.save('lamp', withToken('newer'))
  expect((await open()).read('lamp', URL_OF_IT)).toEqual(withToken('newer'))
})

test('a login that is forgotten is gone from the files too', async () => {
  writeLogin('lamp', KEPT)
  await (await open()).forget('lamp')
  expect(readdirSync(join(store.folder, 'oauth.moved'))).toEqual([])
})

test('a file that cannot be read harms nobody, stays, and is named in the log', async () => {
  writeLogin('lamp', KEPT)
  mkdirSync(fileOf('heater'))
  const kept = await open()
  expect(kept.read('lamp', URL_OF_IT)).toEqual(KEPT)
  expect(existsSync(fileOf('heater'))).toBe(true)
  expect(lines.map(line => JSON.parse(line))).toMatchObject([{ event: 'login_not_read', server: 'heater' }])
})

test.each([
  ['no JSON', '{"url": '],
  ['something else', '{"url": "https://example.org/mcp", "tokens": 7}'],
])('a file that holds %s counts as none', async (_what, text) => {
  writeLogin('lamp', text)
  expect((await open()).read('lamp', URL_OF_IT)).toBeUndefined()
})
