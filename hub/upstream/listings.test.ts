import { setImmediate } from 'node:timers/promises'
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { until } from '../../tests/support/until.ts'
import { createLog } from '../core/log.ts'
import { Listings, type ListingsDeps } from './listings.ts'

/** Opens the lists of a server that fails to list its prompts for as long as `isBroken`. */
function openListings() {
  const clock = createFakeClock()
  const ended = new AbortController()
  const server = { isBroken: true, asked: 0, reads: 0 }
  const deps: ListingsDeps = {
    clock,
    random: () => 1,
    log: createLog({ level: 'error', now: () => 0, write: () => undefined }),
    capabilities: { tools: {}, prompts: {} },
    signal: ended.signal,
    async request(method) {
      if (method === 'tools/list') return { tools: [] }
      server.asked++
      if (server.isBroken) throw new Error('no')
      return { prompts: [{ name: 'hello' }] }
    },
    learnTools: tools => tools,
    onRead: () => server.reads++,
    onFailed: () => undefined,
  }
  return { clock, ended, server, deps, listings: new Listings(deps) }
}

test('a list that cannot be read is read again ever more slowly, until it can', async () => {
  const { clock, ended, server, listings } = openListings()
  await listings.readAll(ended.signal, () => false)
  expect([...listings.unread]).toEqual([['prompts', 'no']])
  for (const [wait, asked] of [
    [500, 2],
    [1_000, 3],
  ] as const) {
    clock.advance(wait - 1)
    expect(server.asked).toBe(asked - 1)
    clock.advance(1)
    await until('it is read again', () => server.reads === asked - 1)
  }
  server.isBroken = false
  clock.advance(2_000)
  await until('it is read', () => listings.unread.size === 0)
  expect(listings.offer.prompts).toEqual([{ name: 'hello' }])
  expect(clock.timers).toBe(0)
})

test('lists that are read at once do not replace each other, whichever comes first', async () => {
  const { ended, deps } = openListings()
  const prompts = Promise.withResolvers<void>()
  const listings = new Listings({
    ...deps,
    async request(method) {
      if (method === 'prompts/list') {
        await prompts.promise
        return { prompts: [{ name: 'hello' }] }
      }
      queueMicrotask(prompts.resolve)
      return { tools: [{ name: 'one', inputSchema: { type: 'object' } }] }
    },
  })
  await listings.readAll(ended.signal, () => false)
  expect(listings.offer.tools.map(({ name }) => name)).toEqual(['one'])
  expect(listings.offer.prompts).toEqual([{ name: 'hello' }])
})

test('a change that is reported during a read causes one more', async () => {
  const { ended, server, listings } = openListings()
  server.isBroken = false
  await listings.readAll(ended.signal, () => false)
  for (let changes = 0; changes < 3; changes++) listings.refresh(['prompts'])
  await until('both are read', () => server.reads === 2)
  expect(server.asked).toBe(3)
})

test('a server that reports a change with each list is read at once, and then once a second', async () => {
  const { clock, ended, deps } = openListings()
  let asked = 0
  const listings = new Listings({
    ...deps,
    async request() {
      asked++
      queueMicrotask(() => listings.changed(['tools']))
      return { tools: [] }
    },
  })
  listings.changed(['tools'])
  for (let seconds = 1; seconds <= 3; seconds++) {
    await until('it is read', () => asked === seconds)
    await setImmediate()
    expect(asked).toBe(seconds)
    clock.advance(1_000)
  }
  ended.abort()
  expect(clock.timers).toBe(0)
})

test('at the start the tools have to be read, and a lost connection counts', async () => {
  const { ended, deps, listings } = openListings()
  await expect(listings.readAll(ended.signal, () => true)).rejects.toThrow('no')
  const gone = new SdkError(SdkErrorCode.ConnectionClosed, 'closed')
  const broken = new Listings({
    ...deps,
    request: async () => {
      throw gone
    },
  })
  await expect(broken.readAll(ended.signal, () => false)).rejects.toThrow('its tools cannot be listed')
})
