import type { Client, McpSubscription } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { createLog } from '../core/log.ts'
import { createSubscriptions, type SubscriptionDeps } from './subscriptions.ts'

const deps: SubscriptionDeps = {
  clock: createFakeClock(),
  random: () => 0.5,
  log: createLog({ level: 'error', now: () => 0, write: () => undefined }),
  capabilities: { resources: { subscribe: true } },
  signal: new AbortController().signal,
  request: async () => undefined,
  onBroken: () => undefined,
}

/** Opens a server of 2026-07-28 that answers each `subscriptions/listen` when a test says so. */
function openServer() {
  const asked: { uris: readonly string[]; answer: () => void }[] = []
  const open = new Set<readonly string[]>()
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
  const subscriptions = createSubscriptions(client, deps)
  subscriptions.begin()
  return { asked, open, subscriptions, want: (...uris: string[]) => subscriptions.want(new Set(uris)) }
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

/** Returns a function that tells whether the promise is resolved by now. */
function watch(promise: Promise<void>): () => boolean {
  let isDone = false
  void promise.then(() => {
    isDone = true
  })
  return () => isDone
}

test('what is wanted is in force when the stream for all of it is answered', async () => {
  const { asked, subscriptions, want } = openServer()
  await subscriptions.inForce
  want('a:1')
  const isInForce = watch(subscriptions.inForce)
  want('a:1', 'a:2')
  asked[0]?.answer()
  await settled()
  expect(isInForce()).toBe(false)
  asked[1]?.answer()
  await settled()
  expect(isInForce()).toBe(true)
})

test('what is wanted of a server of before is in force when it answered for each resource, be it with an error', async () => {
  const answers: PromiseWithResolvers<void>[] = []
  const client = {
    getProtocolEra: () => 'legacy' as const,
    listen: () => Promise.reject(),
    transport: undefined,
  }
  const subscriptions = createSubscriptions(client, {
    ...deps,
    request() {
      const answer = Promise.withResolvers<void>()
      answers.push(answer)
      return answer.promise
    },
  })
  subscriptions.want(new Set(['a:1', 'a:2']))
  const isInForce = watch(subscriptions.inForce)
  await settled()
  answers[0]?.reject(new Error('There is no such resource'))
  await settled()
  expect(isInForce()).toBe(false)
  answers[1]?.resolve()
  await settled()
  expect(isInForce()).toBe(true)
})
