import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { makeTempFolder, openTempStore, type TempStore } from '../../tests/support/temp-store.ts'
import { openOwnerToken } from '../config/token.ts'
import { createIds } from '../core/ids.ts'
import { createLog } from '../core/log.ts'
import { createSignals } from '../core/signals.ts'
import { listAudit } from '../store/audit-log.ts'
import { readOwnerSecrets } from '../store/hub-state.ts'
import { Tokens } from './tokens.ts'

let store: TempStore
let folders: ReturnType<typeof makeTempFolder>[]
beforeEach(async () => {
  store = await openTempStore()
  folders = [makeTempFolder(), makeTempFolder()]
})
afterEach(async () => {
  await store[Symbol.asyncDispose]()
  for (const folder of folders) folder[Symbol.dispose]()
})

const clock = createFakeClock()
const folderOf = (hub: number) => folders[hub]?.path ?? ''
const fileOf = (hub: number) => join(folderOf(hub), 'token')

/** Opens the tokens as a hub does that begins to lead, with a data folder of its own. */
function lead(hub: number, token?: string): Promise<Tokens> {
  const signals = createSignals(() => undefined)
  const log = createLog({ level: 'error', now: clock.now, write: () => undefined })
  const owner = openOwnerToken({ dataFolder: folderOf(hub), token })
  return Tokens.open({ store, clock, newId: createIds(clock.now), log, signals, owner })
}

const opens = (tokens: Tokens, ...secrets: string[]) =>
  secrets.map(secret => tokens.find(secret)?.role ?? 'nothing')

test('the secret of each hub opens the one that leads', async () => {
  using first = await lead(0)
  using second = await lead(1)
  expect(second.ownerSecret).not.toBe(first.ownerSecret)
  expect(opens(second, first.ownerSecret, second.ownerSecret)).toEqual(['owner', 'owner'])
  using again = await lead(0)
  expect(again.ownerSecret).toBe(first.ownerSecret)
  expect(opens(again, first.ownerSecret, second.ownerSecret)).toEqual(['owner', 'owner'])
  expect((await again.list()).tokens).toEqual([])
  expect(await again.revoke('owner', 'owner')).toEqual([])
})

test('revoking all ends the secrets of all hubs, and what they hold open, also of one that is down', async () => {
  using first = await lead(0)
  using second = await lead(1)
  const ended: string[] = []
  for (const { ownerSecret } of [first, second]) {
    const principal = second.find(ownerSecret)
    if (principal) second.hold(principal, () => ended.push(ownerSecret))
  }
  const before = [first.ownerSecret, second.ownerSecret]
  expect(await second.revokeAll('owner')).toEqual({ revoked: [], isOwnerReplaced: true })
  expect(ended.sort()).toEqual([...before].sort())
  expect(readFileSync(fileOf(1), 'utf8').trim()).toBe(second.ownerSecret)
  expect(opens(second, ...before, second.ownerSecret)).toEqual(['nothing', 'nothing', 'owner'])
  using again = await lead(0)
  expect(readFileSync(fileOf(0), 'utf8').trim()).toBe(again.ownerSecret)
  expect(opens(again, ...before)).toEqual(['nothing', 'nothing'])
  expect(opens(again, second.ownerSecret, again.ownerSecret)).toEqual(['owner', 'owner'])
  const rows = await listAudit(store.db, { limit: 9, kinds: ['token'] })
  expect(rows.map(({ actor, outcome }) => [actor, outcome])).toEqual([
    ['hub', 'replaced'],
    ['owner', 'replaced'],
  ])
})

test('a revoked secret that is put back into the file opens nothing: the hub makes another one', async () => {
  using first = await lead(0)
  const revoked = first.ownerSecret
  await first.revokeAll('owner')
  writeFileSync(fileOf(0), revoked)
  using again = await lead(0)
  expect(again.ownerSecret).not.toBe(revoked)
  expect(opens(again, revoked)).toEqual(['nothing'])
})

test('a secret that takes the place of another one in the file ends that', async () => {
  using first = await lead(0)
  const before = first.ownerSecret
  rmSync(fileOf(0))
  using again = await lead(0)
  using second = await lead(1)
  expect(opens(again, before, again.ownerSecret)).toEqual(['nothing', 'owner'])
  expect(opens(second, before, again.ownerSecret)).toEqual(['nothing', 'owner'])
})

test('a secret that somebody chose opens its own hub alone, and the store has no hash of it', async () => {
  writeFileSync(fileOf(0), 'a-token-that-somebody-wrote')
  using first = await lead(0)
  using second = await lead(1)
  expect(opens(first, 'a-token-that-somebody-wrote')).toEqual(['owner'])
  expect(opens(second, 'a-token-that-somebody-wrote')).toEqual(['nothing'])
  expect([...(await readOwnerSecrets(store.db)).values()].map(({ hub }) => hub)).toHaveLength(1)
})

test('a secret of the environment opens each hub that has it, and ends the one of the file', async () => {
  using first = await lead(0)
  const configured = 'abcdefghijklmnopqrstuvwxyz012345'
  using again = await lead(0, configured)
  expect(opens(again, configured, first.ownerSecret)).toEqual(['owner', 'nothing'])
  using second = await lead(1, configured)
  expect(opens(second, configured, first.ownerSecret)).toEqual(['owner', 'nothing'])
  expect((await readOwnerSecrets(store.db)).size).toBe(0)
  expect(await second.revokeAll('owner')).toMatchObject({ isOwnerReplaced: false })
  expect(opens(second, configured)).toEqual(['owner'])
})
