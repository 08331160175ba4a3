import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFakeClock, type FakeClock } from '../../../tests/support/fake-clock.ts'
import { createHttpServer, type HttpServer } from '../../../tests/support/http-servers.ts'
import { type AuthorizationServer, startAuthorizationServer } from '../../../tests/support/oauth-server.ts'
import { createRecord, until } from '../../../tests/support/until.ts'
import { createLog } from '../../core/log.ts'
import type { HttpSpec } from '../server-spec.ts'
import { Authorization } from './authorization.ts'
import type { CredentialStore, Credentials } from './credentials.ts'
import { NeedsLogin } from './faults.ts'
import { beginLogin } from './login.ts'

const MINUTE_MS = 60_000

let people: AuthorizationServer
let remote: HttpServer
let clock: FakeClock
let saved: Credentials[]
/** Resolves once what is saved is on the disk. */
let disk: () => Promise<void>
let lines: ReturnType<typeof createRecord<string>>
let authorization: Authorization
let create: (before?: Authorization) => Authorization

beforeEach(async () => {
  people = await startAuthorizationServer()
  remote = createHttpServer('modern', people.guard())
  await remote.start(['one'])
  clock = createFakeClock()
  saved = []
  disk = async () => undefined
  lines = createRecord<string>()
  const spec: HttpSpec = {
    name: 'remote',
    origin: 'config',
    prefix: '',
    transport: { kind: 'http', url: remote.url, headers: {} },
  }
  const log = createLog({ level: 'debug', now: clock.now, write: line => lines.add(line) })
  const store: CredentialStore = {
    read: () => saved.at(-1),
    save: async (_server, kept) => {
      saved.push(kept)
      await disk()
    },
    forget: async () => false,
  }
  create = before => new Authorization(spec, { clock, log, store, fetch }, before)
  authorization = create()
  await (await begin()).finish()
})

/** Begins a person's login, up to where they come back. */
async function begin() {
  const login = await beginLogin(authorization, 'http://127.0.0.1:1/oauth/callback')
  const back = (await fetch(login.url, { redirect: 'manual' })).headers.get('location') ?? ''
  return { finish: () => login.finish(new URL(back).searchParams) }
}
afterEach(async () => {
  await remote[Symbol.asyncDispose]()
  await people[Symbol.asyncDispose]()
})

/** Begins a renewal that is in flight until `finish` is called. */
function beginRenewal() {
  const gate = Promise.withResolvers<void>()
  people.onRefresh = () => gate.promise
  clock.advance(59 * MINUTE_MS)
  return { renewed: authorization.fresh(), finish: gate.resolve }
}

const refreshes = () => people.asked.filter(one => one === 'refresh').length

test('tokens are renewed a minute before they end, once, and are on the disk then', async () => {
  const before = authorization.bearer
  clock.advance(59 * MINUTE_MS - 1)
  expect(authorization.fresh()).toBeUndefined()
  clock.advance(1)
  await Promise.all([authorization.fresh(), authorization.fresh(), authorization.fresh()])
  expect(refreshes()).toBe(1)
  expect(authorization.bearer).not.toBe(before)
  expect(saved.at(-1)?.tokens?.access_token).toBe(authorization.bearer)
  expect(authorization.fresh()).toBeUndefined()
})

test('renewed tokens are used once they are on the disk, and not before', async () => {
  const before = authorization.bearer
  const gate = Promise.withResolvers<void>()
  disk = () => gate.promise
  clock.advance(59 * MINUTE_MS)
  const renewed = authorization.fresh()
  await until('they are being saved', () => saved.length > 1)
  expect(authorization.bearer).toBe(before)
  expect(authorization.fresh()).toBeInstanceOf(Promise)
  gate.resolve()
  await renewed
  expect(refreshes()).toBe(1)
  expect(authorization.bearer).toBe(saved.at(-1)?.tokens?.access_token)
})

test('tokens that cannot be saved are good for as long as the hub runs', async () => {
  const before = authorization.bearer
  disk = () => Promise.reject(new Error('no room'))
  clock.advance(59 * MINUTE_MS)
  await authorization.fresh()
  expect(authorization.bearer).not.toBe(before)
  expect(lines.all.join()).toContain('login_not_saved')
})

test('a renewal that comes while a newer login is being saved is dropped', async () => {
  const { renewed, finish } = beginRenewal()
  const login = await begin()
  const gate = Promise.withResolvers<void>()
  disk = () => gate.promise
  const count = saved.length
  const done = login.finish()
  await until('the login is being saved', () => saved.length > count)
  finish()
  await renewed
  expect(saved).toHaveLength(count + 1)
  gate.resolve()
  await done
  expect(authorization.bearer).toBe(saved.at(-1)?.tokens?.access_token)
})

test('tokens that say they hold for no time are not renewed before each request', async () => {
  people.lasts = 0
  clock.advance(59 * MINUTE_MS)
  await authorization.fresh()
  expect(refreshes()).toBe(1)
  expect(authorization.fresh()).toBeUndefined()
})

test('a renewal ahead of time that fails costs no request, and is tried again soon', async () => {
  people.onRefresh = () => {
    throw new Error('out of order')
  }
  clock.advance(59 * MINUTE_MS)
  const before = authorization.bearer
  await authorization.fresh()
  expect(authorization.bearer).toBe(before)
  expect(authorization.fresh()).toBeUndefined()
  clock.advance(10_000)
  // The first try has used the refresh token.
  await expect(authorization.fresh()).rejects.toThrow(NeedsLogin)
  expect(authorization.bearer).toBeUndefined()
  expect(lines.all.filter(line => [...people.secrets].some(secret => line.includes(secret)))).toEqual([])
})

test('who was refused with tokens that are not the newest any more tries with those', async () => {
  const used = authorization.bearer
  const refusal = { status: 401, authenticate: 'Bearer', used, again: false }
  expect(await authorization.refused(refusal)).toBe(true)
  expect(await authorization.refused(refusal)).toBe(true)
  expect(refreshes()).toBe(1)
  await expect(
    authorization.refused({ ...refusal, used: authorization.bearer, again: true }),
  ).rejects.toThrow(/needs a login \(the last one is over\): run superbloom servers login remote/)
})

test.each([
  [403, 'Bearer error="invalid_token"'],
  [403, undefined],
  [500, 'Bearer'],
])('%i with %s is no matter of a login', async (status, authenticate) => {
  expect(
    await authorization.refused({ status, authenticate, used: authorization.bearer, again: false }),
  ).toBe(false)
})

test('one that was retired uses up no refresh token, and what is on its way changes nothing on the disk', async () => {
  const count = saved.length
  const { renewed, finish } = beginRenewal()
  authorization.retire({ forgets: true })
  finish()
  await renewed
  expect(refreshes()).toBe(1)
  expect(saved).toHaveLength(count)
  clock.advance(59 * MINUTE_MS)
  expect(authorization.fresh()).toBeUndefined()
})

test('who takes its place gets what a renewal brings that is on its way, through another change too', async () => {
  const { renewed, finish } = beginRenewal()
  const heir = create(create(authorization))
  const alsoRenewed = heir.fresh()
  finish()
  await Promise.all([renewed, alsoRenewed])
  expect(refreshes()).toBe(1)
  expect(heir.bearer).toBe(authorization.bearer)
  expect(saved.at(-1)?.tokens?.access_token).toBe(heir.bearer)
  expect(heir.fresh()).toBeUndefined()
})

test('an heir that has a login of its own keeps that', async () => {
  const { renewed, finish } = beginRenewal()
  authorization = create(authorization)
  await (await begin()).finish()
  const own = authorization.bearer
  finish()
  await renewed
  expect(authorization.bearer).toBe(own)
  expect(saved.at(-1)?.tokens?.access_token).toBe(own)
})

test('a login that ends after a logout says that it is none', async () => {
  const login = await begin()
  const count = saved.length
  authorization.retire({ forgets: true })
  await expect(login.finish()).rejects.toThrow(/meanwhile somebody logged out/)
  expect(saved).toHaveLength(count)
})
