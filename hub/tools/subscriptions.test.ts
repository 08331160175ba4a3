import type { Client, McpSubscription } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { createLog } from '../core/log.ts'
import { createSubscriptions } from './subscriptions.ts'

/** A server of 2026-07-28 that answers each `subscriptions/listen` when it is told to. */
function openServer() {
  const asked: { uris: readonly string[]; answer: () => void }[] = []
  const open = new Set<readonly string[]>()
  const ended = new AbortController()
  const client: Pick<Client, 'getProtocolEra' | 'listen' | 'transport'> = {
    getProtocolEra: () => 'modern',
    transport: { start: async () => undefined, send: async () => undefined, close: async () => undefined },
    listen({ resourceSubscriptions: uris = [] }) {
      const closed = Promise.withResolvers<'local'>()
      const stream: McpSubscription = {
        honoredFilter: {},
        closed: closed.promise,
        async close() {
          open.delete(uris)
          closed.resolve('local')
        },
      }
      const answered = Promise.withResolvers<McpSubscription>()
      const answer = () => {
        open.add(uris)
        answered.resolve(stream)
      }
      asked.push({ uris, answer })
      return answered.promise
    },
  }
  const subscriptions = createSubscriptions(client, {
    clock: createFakeClock(),
    random: () => 0.5,
    log: createLog({ level: 'error', now: () => 0, write: () => undefined }),
    capabilities: { resources: { subscribe: true } },
    signal: ended.signal,
    request: async () => undefined,
    onBroken: () => undefined,
  })
  subscriptions.begin()
  return { asked, open, want: (...uris: string[]) => subscriptions.want(new Set(uris)) }
}

const settled = () => new Promise(resolve => setImmediate(resolve))

test('of two streams the one for what is wanted now stays, whichever is answered first', async () => {
  const { asked, open, want } = openServer()
  want('a:1')
  want('a:1', 'a:2')
  for (const { answer } of [...asked].reverse()) {
    answer()
    await settled()
  }
  expect([...open]).toEqual([['a:1', 'a:2']])
})

test('a stream is replaced only where something else is wanted, and ends when nothing is', async () => {
  const { asked, open, want } = openServer()
  want('a:1')
  asked[0]?.answer()
  await settled()
  want('a:1')
  expect(asked.length).toBe(1)
  want()
  await settled()
  expect(open.size).toBe(0)
})
