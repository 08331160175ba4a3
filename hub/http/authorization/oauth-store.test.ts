import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createFakeClock, type FakeClock } from '../../../tests/support/fake-clock.ts'
import { openTempStore, type TempStore } from '../../../tests/support/temp-store.ts'
import { createAdapter } from './oauth-store.ts'

const DAY = 86_400_000
/** Rows of a kind that strangers can make. */
const MOST = 1_000

let store: TempStore
let clock: FakeClock
beforeEach(async () => {
  store = await openTempStore()
  clock = createFakeClock()
})
afterEach(() => store[Symbol.asyncDispose]())

const open = (kind: string) =>
  createAdapter({ store, clock, tokens: { endGrant: async () => undefined } })(kind)

/** Adds as many rows as strangers could make, which expire after those that a test made before. */
async function flood(kind: string): Promise<void> {
  const row = { kind, related: null, payload_json: '{}', consumed_at: null, expires_at: clock.now() + DAY }
  const rows = Array.from({ length: MOST }, (_, each) => ({ ...row, hash: `f${each}` }))
  await store.write(tx => tx.insertInto('oauth').values(rows).execute())
}

async function count(kind: string): Promise<number> {
  return (await store.db.selectFrom('oauth').selectAll().where('kind', '=', kind).execute()).length
}

describe('a flood of clients that register themselves', () => {
  test('keeps nobody else from registering, and pushes out only clients that nobody allowed', async () => {
    const clients = open('Client')
    await clients.upsert('used', { clientName: 'used' } as never, 0)
    await open('RefreshToken').upsert('token', { clientId: 'used' }, 30 * 86_400)
    await clients.upsert('unused', { clientName: 'unused' } as never, 0)
    clock.advance(1)
    await flood('Client')
    await open('Client').upsert('mine', { clientName: 'mine' } as never, 0)
    expect(await clients.find('mine')).toBeDefined()
    expect(await clients.find('used')).toBeDefined()
    expect(await clients.find('unused')).toBeUndefined()
    expect(await count('Client')).toBeLessThan(MOST)
  })
})

test.each(['Interaction', 'ReplayDetection'])('a flood of %s that goes on is bounded too', async kind => {
  const rows = open(kind)
  await flood(kind)
  for (let each = 0; each < 150; each++) await rows.upsert(`g${each}`, {}, 2 * 86_400)
  expect(await count(kind)).toBeLessThanOrEqual(MOST)
})

test('what a stranger wants to count for ever counts for a year, in whole milliseconds', async () => {
  await open('ReplayDetection').upsert('for ever', {}, 1e300)
  await open('ReplayDetection').upsert('odd', {}, 60.0005)
  const rows = await store.db.selectFrom('oauth').select('expires_at').orderBy('expires_at').execute()
  expect(rows.map(({ expires_at }) => Number(expires_at) - clock.now())).toEqual([60_001, 366 * DAY])
})

test('questions that nobody answers are bounded; the oldest go', async () => {
  const questions = open('Interaction')
  await questions.upsert('oldest', {}, 600)
  await flood('Interaction')
  await open('Interaction').upsert('mine', {}, 2 * 86_400)
  expect(await questions.find('mine')).toBeDefined()
  expect(await questions.find('oldest')).toBeUndefined()
  expect(await count('Interaction')).toBeLessThan(MOST)
})

describe('a refresh token that was used', () => {
  test('works again for a minute, for the other processes that share it, and is used up then', async () => {
    const tokens = open('RefreshToken')
    await tokens.upsert('shared', { clientId: 'c' }, 86_400)
    await tokens.consume('shared')
    clock.advance(59_000)
    expect(await tokens.find('shared')).not.toHaveProperty('consumed')
    await tokens.consume('shared')
    clock.advance(1_000)
    expect(await tokens.find('shared')).toHaveProperty('consumed')
  })

  test('is not like a code, which is used up at once', async () => {
    const codes = open('AuthorizationCode')
    await codes.upsert('code', {}, 60)
    await codes.consume('code')
    expect(await codes.find('code')).toHaveProperty('consumed')
    await expect(codes.consume('code')).rejects.toThrow('invalid_grant')
  })
})
