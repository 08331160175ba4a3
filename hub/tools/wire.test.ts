import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import type { Asker, JsonObject } from '../core/forwarding.ts'
import { createLog } from '../core/log.ts'
import type { HttpPost } from './http-post.ts'
import { Wire } from './wire.ts'

/** A wire to a server that answers each request with what `answer` makes of its id. */
async function openWire(answer: (id: string) => object[]) {
  const [near, far] = InMemoryTransport.createLinkedPair()
  const told: JsonObject[] = []
  const wire = new Wire(near, {
    clock: createFakeClock(),
    log: createLog({ level: 'error', now: () => 0, write: () => undefined }),
    timeout: 1_000,
    onNotice: (_method, params) => told.push(params),
  })
  const messagesFor = (id: unknown) => answer(String(id)) as JSONRPCMessage[]
  far.onmessage = message => {
    if ('id' in message) for (const made of messagesFor(message.id)) void far.send(made)
  }
  await Promise.all([near.start(), far.start()])
  /** As a server over HTTP, which answers each request on a stream of its own. */
  const http: HttpPost = {
    async post({ id }, deliver) {
      for (const message of messagesFor(id)) deliver(message)
      return 'ended'
    },
    [Symbol.dispose]: () => undefined,
  }
  return { wire, told, overHttp: () => wire.use(http, undefined) }
}

test.each([
  ['nothing', {}],
  ['an error that is none', { error: null }],
  ['a result that is none', { result: 'done' }],
])('an answer that holds %s fails the request at once', async (_what, rest) => {
  const { wire, overHttp } = await openWire(id => [{ jsonrpc: '2.0', id, ...rest }])
  await expect(wire.request('tools/call', {})).rejects.toThrow('neither a result nor an error')
  overHttp()
  await expect(wire.request('tools/call', {})).rejects.toThrow('neither a result nor an error')
})

test('a log message on the stream of a request is for its caller alone', async () => {
  const log = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'a secret' } }
  const { wire, told, overHttp } = await openWire(id => [log, { jsonrpc: '2.0', id, result: {} }, log])
  overHttp()
  const heard: JsonObject[] = []
  const quiet: Asker = { key: 'one', capabilities: {}, repeats: false, ask: async () => ({}) }
  await wire.request('tools/call', {}, { asker: quiet })
  await wire.request(
    'tools/call',
    {},
    { asker: { ...quiet, logLevel: 'info', log: params => heard.push(params) } },
  )
  expect(told).toEqual([])
  expect(heard).toEqual([log.params])
  await wire.request('tools/list', {})
  expect(told).toEqual([log.params])
})
