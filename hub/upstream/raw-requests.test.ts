import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { until } from '../../tests/support/until.ts'
import type { JsonObject, Requester } from '../core/forwarding.ts'
import { createLog } from '../core/log.ts'
import type { HttpPost } from './http/http-post.ts'
import { RawRequests } from './raw-requests.ts'

/** Opens a requests to a server that answers each request with what `answer` makes of its id. */
async function openRequests(answer: (id: string) => object[], isOwn = false) {
  const [near, far] = InMemoryTransport.createLinkedPair()
  const told: JsonObject[] = []
  const clock = createFakeClock()
  const requests = new RawRequests(near, {
    strays: () => 0,
    clock,
    log: createLog({ level: 'error', now: () => 0, write: () => undefined }),
    timeout: 1_000,
    isOwn,
    onNotice: (_method, params) => told.push(params),
  })
  const messagesFor = (id: unknown) => answer(String(id)) as JSONRPCMessage[]
  const sent: JSONRPCMessage[] = []
  far.onmessage = message => {
    sent.push(message)
    if ('id' in message) for (const made of messagesFor(message.id)) void far.send(made)
  }
  await Promise.all([near.start(), far.start()])
  /** Acts as a server over HTTP, which answers each request on a stream of its own. */
  const http: HttpPost = async ({ id }, deliver) => {
    for (const message of messagesFor(id)) deliver(message)
  }
  return { clock, requests, far, sent, told, overHttp: () => requests.use(http, undefined) }
}

test.each([
  ['nothing', {}],
  ['an error that is none', { error: null }],
  ['a result that is none', { result: 'done' }],
])('an answer that holds %s fails the request at once', async (_what, rest) => {
  const { requests, overHttp } = await openRequests(id => [{ jsonrpc: '2.0', id, ...rest }])
  await expect(requests.request('tools/call', {})).rejects.toThrow('neither a result nor an error')
  overHttp()
  await expect(requests.request('tools/call', {})).rejects.toThrow('neither a result nor an error')
})

test('a connection that was closed takes no request: nothing is sent, and no timer is left', async () => {
  const { requests, clock, sent } = await openRequests(id => [{ jsonrpc: '2.0', id, result: {} }])
  requests.close()
  await expect(requests.request('tools/call', {})).rejects.toThrow('Connection closed')
  expect(sent).toEqual([])
  expect(clock.timers).toBe(0)
})

test('a log message on the stream of a request is for its caller alone', async () => {
  const log = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'a secret' } }
  const { requests, told, overHttp } = await openRequests(id => [
    log,
    { jsonrpc: '2.0', id, result: {} },
    log,
  ])
  overHttp()
  const heard: JsonObject[] = []
  const quiet: Requester = { key: 'one', capabilities: {}, repeats: false, ask: async () => ({}) }
  await requests.request('tools/call', {}, { requester: quiet })
  await requests.request(
    'tools/call',
    {},
    { requester: { ...quiet, logLevel: 'info', log: params => heard.push(params) } },
  )
  expect(told).toEqual([])
  expect(heard).toEqual([log.params])
  await requests.request('tools/list', {})
  expect(told).toEqual([log.params])
})

test('a question that comes late for a call that was given up reaches nobody else', async () => {
  const { requests, far, sent } = await openRequests(() => [])
  const asked: string[] = []
  const requester = (key: string): Requester => ({
    key,
    capabilities: { elicitation: {} },
    repeats: false,
    ask: async () => {
      asked.push(key)
      return { action: 'accept' }
    },
  })
  const answerTo = (id: number) =>
    until('the server has its answer', () => sent.find(message => 'id' in message && message.id === id))
  const ask = (id: number) => far.send({ jsonrpc: '2.0', id, method: 'elicitation/create', params: {} })

  const left = new AbortController()
  const given = requests.request('tools/call', {}, { requester: requester('one'), signal: left.signal })
  left.abort(new Error('gone'))
  await expect(given).rejects.toThrow('gone')
  const other = requests.request('tools/call', {}, { requester: requester('two') })
  await ask(1)
  expect(await answerTo(1)).toMatchObject({ error: { message: expect.stringContaining('isolated') } })
  expect(asked).toEqual([])
  await far.send({ jsonrpc: '2.0', id: 'hub-1', result: {} })
  await ask(2)
  expect(await answerTo(2)).toMatchObject({ result: { action: 'accept' } })
  expect(asked).toEqual(['two'])
  requests.close()
  await expect(other).rejects.toThrow('closed')
})

describe('two calls of clients without a session that call themselves alike may be of two', () => {
  /** Opens calls whose questions stay open. */
  async function openCalls(count: number, isOwn = false) {
    const { requests, far, sent } = await openRequests(() => [], isOwn)
    const asked: number[] = []
    const toAsker = (call: number): Requester => ({
      key: 'a name',
      capabilities: { elicitation: {} },
      repeats: true,
      ask: (_method, _params, signal) => {
        asked.push(call)
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        )
      },
    })
    const add = () => {
      const given = new AbortController()
      const options = { requester: toAsker(calls.length + 1), signal: given.signal }
      calls.push(requests.request('tools/call', {}, options).catch(() => undefined))
      return () => given.abort()
    }
    const calls: Promise<unknown>[] = []
    for (let made = 0; made < count; made++) add()
    let questions = 0
    return {
      asked,
      add,
      ask: () => far.send({ jsonrpc: '2.0', id: ++questions, method: 'elicitation/create', params: {} }),
      /** Resolves with what the server gets for its last question. */
      answer: () => until('it is answered', () => sent.find(one => 'id' in one && one.id === questions)),
      async [Symbol.asyncDispose]() {
        requests.close()
        await Promise.all(calls)
      },
    }
  }
  const REFUSED = { error: { message: expect.stringContaining('isolated') } }

  test('where both may ask, nobody is asked', async () => {
    await using calls = await openCalls(2)
    await calls.ask()
    expect(await calls.answer()).toMatchObject(REFUSED)
    expect(calls.asked).toEqual([])
  })

  test('over a connection of their own the last is asked', async () => {
    await using calls = await openCalls(2, true)
    await calls.ask()
    expect(calls.asked).toEqual([2])
  })

  test('one that waits for an answer does not keep the next from being asked, several times too', async () => {
    await using calls = await openCalls(1)
    await calls.ask()
    calls.add()
    await calls.ask()
    await calls.ask()
    expect(calls.asked).toEqual([1, 2, 2])
  })

  test('one that was given up may still ask, unless it waited for an answer', async () => {
    await using calls = await openCalls(0)
    const leaveFirst = calls.add()
    await calls.ask()
    leaveFirst()
    const leaveSecond = calls.add()
    await calls.ask()
    expect(calls.asked).toEqual([1, 2])
    calls.add()
    leaveSecond()
    await calls.ask()
    expect(calls.asked).toEqual([1, 2, 3])
    calls.add()()
    await calls.ask()
    expect(await calls.answer()).toMatchObject(REFUSED)
  })
})

test('nothing of a request that was given up is left when the connection ends', async () => {
  const { clock, requests } = await openRequests(() => [])
  const left = new AbortController()
  const requester: Requester = { key: 'one', capabilities: {}, repeats: false, ask: async () => ({}) }
  const given = requests.request('tools/call', {}, { requester, signal: left.signal })
  left.abort(new Error('gone'))
  await expect(given).rejects.toThrow('gone')
  expect(clock.timers).toBeGreaterThan(0)
  requests.close()
  expect(clock.timers).toBe(0)
})
