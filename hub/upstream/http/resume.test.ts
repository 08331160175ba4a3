import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import { createFakeClock } from '../../../tests/support/fake-clock.ts'
import { createRecord } from '../../../tests/support/until.ts'
import { LONGEST_MESSAGE } from '../bounds.ts'
import { createHttpPost } from './http-post.ts'

const REQUEST = { jsonrpc: '2.0', id: 'hub-1', method: 'tools/call', params: {} } as const
const ANSWER = { jsonrpc: '2.0', id: 'hub-1', result: { content: [] } } as const
const PROGRESS = { jsonrpc: '2.0', method: 'notifications/progress', params: {} } as const

type Answer = (response: ServerResponse) => unknown

const begin = (response: ServerResponse) =>
  response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' })
const stream =
  (text: string): Answer =>
  response =>
    begin(response).end(text)
const refuse =
  (status: number, text = ''): Answer =>
  response =>
    response.writeHead(status).end(text)
const event = (message: object, id: string) => `id: ${id}\ndata: ${JSON.stringify(message)}\n\n`
const answer = stream(event(ANSWER, 'last'))
const breakOff: Answer = response => response.destroy()

/** Posts to a server that breaks off, and gives these answers then, one after the other; the last repeats. */
async function resume(answers: Answer[], first = 'id: é1\ndata: \n\n') {
  const asked = createRecord<IncomingHttpHeaders>()
  const server = createServer((request, response) => {
    if (request.method === 'POST') return void stream(first)(response)
    asked.add(request.headers)
    answers[Math.min(asked.all.length, answers.length) - 1]?.(response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const clock = createFakeClock()
  const delivered: JSONRPCMessage[] = []
  const given = new AbortController()
  const post = createHttpPost({
    clock,
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`),
    headers: () => ({ 'Mcp-Session-Id': 'mine' }),
    authorization: undefined,
  })
  const result = post(REQUEST, message => delivered.push(message), given.signal)
  // The result may reject before a test waits for it.
  result.catch(() => undefined)
  let from = 0
  return {
    clock,
    asked,
    delivered,
    given,
    result,
    idsAsked: () =>
      asked.all.map(headers => Buffer.from(String(headers['last-event-id']), 'latin1').toString('utf8')),
    /** Waits for each of these delays to begin, and lets it pass. */
    async pass(...delays: number[]) {
      for (const delay of delays) {
        from = await clock.armed(delay, from)
        clock.advance(delay)
      }
    },
    [Symbol.dispose]() {
      given.abort()
      server.closeAllConnections()
      server.close()
    },
  }
}

test('the rest is asked for in the session, from where it broke, when the server wants that', async () => {
  using resumed = await resume([answer], 'id: é1\nretry: 70\ndata: \n\n')
  await resumed.pass(70)
  await resumed.result
  expect(resumed.delivered).toEqual([ANSWER])
  expect(resumed.idsAsked()).toEqual(['é1'])
  expect(resumed.asked.all[0]).toMatchObject({ 'mcp-session-id': 'mine', accept: 'text/event-stream' })
  expect(resumed.clock.timers).toBe(0)
})

test.each([
  ['is refused by a gateway', refuse(503)],
  ['is asked for too often', refuse(429)],
  ['is thought to be read still', refuse(409)],
  ['breaks off', breakOff],
])('a rest that %s at first arrives later', async (_what, fail) => {
  using resumed = await resume([fail, fail, answer])
  await resumed.pass(1_000, 1_000, 1_500)
  await resumed.result
  expect(resumed.delivered).toEqual([ANSWER])
})

test.each([
  [404, '{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}'],
  [400, 'Invalid session ID'],
  [405, ''],
  [501, ''],
  [307, ''],
])('where the server answers %i the rest is lost, and nobody waits for it', async (status, text) => {
  using resumed = await resume([refuse(status, text)])
  await resumed.pass(1_000)
  await expect(resumed.result).rejects.toMatchObject({
    status,
    data: { text },
    message: expect.stringContaining(`answered ${status} when it was asked for the rest`),
  })
  expect(resumed.asked.all).toHaveLength(1)
  expect(resumed.clock.timers).toBe(0)
})

describe('a server that never has the rest', () => {
  const delays = [1_000, 1_000, 1_500, 3_000, 6_000, 12_000]

  test('is asked no more after a while', async () => {
    using resumed = await resume([refuse(502, 'nothing behind it')])
    await resumed.pass(...delays)
    await expect(resumed.result).rejects.toThrow('nothing behind it')
    expect(resumed.asked.all).toHaveLength(delays.length)
  })

  test('and refuses connections fails with what the network says', async () => {
    using resumed = await resume([breakOff])
    await resumed.pass(...delays)
    await expect(resumed.result).rejects.toThrow('other side closed')
  })
})

test('an event that holds only an id counts', async () => {
  using resumed = await resume([answer], 'id: é1\nretry: 70\n\n')
  await resumed.pass(70)
  await resumed.result
  expect(resumed.idsAsked()).toEqual(['é1'])
})

test('an event that broke off does not count: the rest is asked for from the one before', async () => {
  using resumed = await resume([answer], 'id: 1\ndata: {}\n\nid: 2\ndata: {"res')
  await resumed.pass(1_000)
  await resumed.result
  expect(resumed.idsAsked()).toEqual(['1'])
})

test('one that breaks again and again is asked from the last event that came, as it says', async () => {
  using resumed = await resume([
    stream(`retry: 2000\n${event(PROGRESS, '2')}`),
    stream(''),
    response => begin(response).write(event(PROGRESS, '3'), () => response.destroy()),
    answer,
  ])
  await resumed.pass(1_000, 2_000, 2_000, 2_000)
  await resumed.result
  expect(resumed.idsAsked()).toEqual(['é1', '2', '2', '3'])
  expect(resumed.delivered).toEqual([PROGRESS, PROGRESS, ANSWER])
})

test('nobody waits any more: it is not asked for', async () => {
  using resumed = await resume([refuse(503)])
  await resumed.pass(1_000)
  await resumed.clock.armed(1_000, 1)
  resumed.given.abort(new Error('given up'))
  await expect(resumed.result).rejects.toThrow('given up')
  expect(resumed.clock.timers).toBe(0)
})

test('a message that is too long fails it', async () => {
  using resumed = await resume([
    response => begin(response).write(`data: ${'x'.repeat(LONGEST_MESSAGE + 1)}`),
  ])
  await resumed.pass(1_000)
  await expect(resumed.result).rejects.toThrow('a message over')
})
