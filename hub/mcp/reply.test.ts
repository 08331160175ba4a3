import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import type { Clock } from '../core/clock.ts'
import { Reply } from './reply.ts'
import { SessionEvents } from './session-events.ts'

const options = (clock: Clock, primes = false) => ({
  clock,
  kept: { events: new SessionEvents(), stream: 'one', primes },
})

/** Returns what clients get, one for each function that answers. */
async function answers(...answer: ((response: ServerResponse) => void)[]) {
  const server = createServer((_request, response) => answer.shift()?.(response))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    const got: string[] = []
    const responses = []
    for (const _ of [...answer]) responses.push(await fetch(url))
    for (const response of responses) got.push(await response.text())
    return got
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

test('an answer that cannot be written makes room for one that says so', async () => {
  const deep: unknown = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)
  const got = await answers(response => {
    const reply = new Reply(response, { clock: createFakeClock() })
    expect(() => reply.end({ deep })).toThrow(RangeError)
    reply.end({ error: 'too deep' })
  })
  expect(got).toEqual(['{"error":"too deep"}'])
})

test('a client that comes back ends the connection that it had', async () => {
  const clock = createFakeClock()
  let reply: Reply | undefined
  const [first, second] = await answers(
    response => {
      reply = new Reply(response, options(clock))
      reply.start()
      reply.send({ count: 1 })
    },
    response => {
      reply?.resume(response, 'one~1')
      reply?.end({ count: 2 })
    },
  )
  expect(first).toBe('id: one~1\nevent: message\ndata: {"count":1}\n\n')
  expect(second).toBe('id: one~2\nevent: message\ndata: {"count":2}\n\n')
})

test('a client can come back to a call of which it heard nothing yet', async () => {
  const clock = createFakeClock()
  let reply: Reply | undefined
  const [first, second] = await answers(
    response => {
      reply = new Reply(response, options(clock, true))
      reply.start()
      clock.advance(10_000)
    },
    response => {
      reply?.resume(response, 'one~1')
      reply?.end({ count: 1 })
    },
  )
  expect(first).toBe('id: one~1\ndata: \n\n: still at work\n\n')
  expect(second).toBe('id: one~2\nevent: message\ndata: {"count":1}\n\n')
})

test('of long messages few are kept for a client that comes back', async () => {
  const text = 'x'.repeat(1024 * 1024)
  let reply: Reply | undefined
  const [, second] = await answers(
    response => {
      reply = new Reply(response, options(createFakeClock()))
      for (let count = 1; count <= 10; count++) reply.send({ count, text })
    },
    response => {
      reply?.resume(response, 'one~1')
      reply?.end({ count: 11 })
    },
  )
  expect([...(second ?? '').matchAll(/"count":(\d+)/g)].map(([, count]) => count)).toEqual([
    '8',
    '9',
    '10',
    '11',
  ])
})
