import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeTempFolder } from '../../../tests/support/temp-store.ts'
import { type Credentials, createCredentialStore } from './credentials.ts'

const URL_OF_IT = 'https://example.org/mcp'
const KEPT: Credentials = {
  url: URL_OF_IT,
  client: { client_id: 'me', client_secret: 'hush', issuer: 'https://people.example' },
  tokens: { access_token: 'a', token_type: 'Bearer', refresh_token: 'r', issuer: 'https://people.example' },
  renewAt: 17,
}

let folder: ReturnType<typeof makeTempFolder>
beforeEach(() => {
  folder = makeTempFolder()
})
afterEach(() => folder[Symbol.dispose]())

test('what is kept is its owner’s alone, and is there for the same address only', () => {
  const store = createCredentialStore(folder.path)
  expect(store.read('lamp', URL_OF_IT)).toBeUndefined()
  store.save('lamp', KEPT)
  expect(store.read('lamp', URL_OF_IT)).toEqual(KEPT)
  expect(store.read('lamp', 'https://example.org/other')).toBeUndefined()
  expect(store.read('other', URL_OF_IT)).toBeUndefined()
  expect(statSync(join(folder.path, 'oauth', 'lamp.json')).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder.path, 'oauth')).mode & 0o777).toBe(0o700)
})

test('a draft that a crash left, open for all, is neither read nor written on', () => {
  const store = createCredentialStore(folder.path)
  mkdirSync(join(folder.path, 'oauth'))
  writeFileSync(join(folder.path, 'oauth', 'lamp.json.new'), '{"url": "htt', { mode: 0o644 })
  expect(store.read('lamp', URL_OF_IT)).toBeUndefined()
  store.save('lamp', KEPT)
  expect(store.read('lamp', URL_OF_IT)).toEqual(KEPT)
  expect(statSync(join(folder.path, 'oauth', 'lamp.json')).mode & 0o777).toBe(0o600)
})

test.each([
  ['no JSON', '{"url": '],
  ['something else', '{"url": "https://example.org/mcp", "tokens": 7}'],
])('a file that holds %s counts as none', (_what, text) => {
  mkdirSync(join(folder.path, 'oauth'))
  writeFileSync(join(folder.path, 'oauth', 'lamp.json'), text)
  expect(createCredentialStore(folder.path).read('lamp', URL_OF_IT)).toBeUndefined()
})

test('forgotten, nothing of it is left', () => {
  const store = createCredentialStore(folder.path)
  store.save('lamp', KEPT)
  expect(store.forget('lamp')).toBe(true)
  expect(store.forget('lamp')).toBe(false)
  expect(readdirSync(join(folder.path, 'oauth'))).toEqual([])
})
