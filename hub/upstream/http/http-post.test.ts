import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { heldMemory } from '../../../tests/support/heap.ts'
import { systemClock } from '../../core/clock.ts'
import { FLOOD_PAUSE_MS } from '../bounds.ts'
import { createHttpPost } from './http-post.ts'
import type { BrokenOff } from './resume.ts'

const REQUEST = { jsonrpc: '2.0', id: 'hub-1', method: 'tools/call', params: {} } as const
const ANSWER = { jsonrpc: '2.0', id: 'hub-1', result: { content: [] } } as const

/** Posts once to a server that answers with `answer`; returns what arrived, and the resumptions. */
async function post(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
  clock = systemClock,
) {
  const server = createServer((request, response) => answer(response, request))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const delivered: JSONRPCMessage[] = []
  const resumed: BrokenOff[] = []
  using http = createHttpPost({
    clock,
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`),
    headers: () => ({}),
    resume: async (_request, from) => void resumed.push(from),
  })
  try {
    await http.post(REQUEST, message => delivered.push(message)).result
    return { delivered, resumed }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const stream = (text: string) => (response: ServerResponse) =>
  response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(text)

test('an answer comes as JSON or on a stream', async () => {
  const asJson = await post(response =>
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(ANSWER)),
  )
  const asStream = await post(stream(`event: message\nid: 7\ndata: ${JSON.stringify(ANSWER)}\n\n`))
  for (const { delivered, resumed } of [asJson, asStream]) {
    expect(delivered).toEqual([ANSWER])
    expect(resumed).toEqual([])
  }
})

test('the rest of a stream that ends before the answer is asked for when the server wants it', async () => {
  const { delivered, resumed } = await post(stream('id: 3\nretry: 500\ndata: \n\n'))
  expect(delivered).toEqual([])
  expect(resumed).toMatchObject([{ url: { pathname: '/mcp' }, lastEventId: '3', retry: 500 }])
  const silent = await post(stream('id: 4\ndata: \n\n'))
  expect(silent.resumed).toMatchObject([{ lastEventId: '4', retry: undefined }])
})

const answerAt = (path: string, elsewhere: Parameters<ServerResponse['writeHead']>[1]) =>
  post((response, { url }) => {
    if (url !== path) return response.writeHead(307, elsewhere).end()
    return response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(ANSWER))
  })

test('a server that is at another place, as many are at one with a slash behind it, is asked there', async () => {
  expect((await answerAt('/mcp/', { Location: '/mcp/' })).delivered).toEqual([ANSWER])
})

test('nobody else is given the headers, and one that always is elsewhere is given up', async () => {
  for (const other of ['http://127.0.0.2/mcp/', 'http://127.0.0.1:1/mcp/', 'https://127.0.0.1/mcp/']) {
    await expect(answerAt('/mcp/', { Location: other })).rejects.toThrow('answered 307')
  }
  await expect(answerAt('/nowhere', { Location: '/mcp/' })).rejects.toThrow('answered 307')
})

test('a flood of messages before the answer is read slowly, and nothing of it is lost', async () => {
  let pauses = 0
  const clock = {
    ...systemClock,
    after(delay: number, run: () => void) {
      if (delay === FLOOD_PAUSE_MS) pauses++
      return systemClock.after(0, run)
    },
  }
  const note = 'data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n'
  const { delivered } = await post(stream(`${note.repeat(5_000)}data: ${JSON.stringify(ANSWER)}\n\n`), clock)
  expect(pauses).toBeGreaterThan(0)
  expect(delivered.length).toBe(5_001)
  expect(delivered.at(-1)).toEqual(ANSWER)
})

test.each(['application/json', 'text/event-stream'])(
  'an answer that comes byte by byte takes little more than its bytes: %s',
  async type => {
    const text = JSON.stringify({
      ...ANSWER,
      result: { content: [{ type: 'text', text: 'x'.repeat(400_000) }] },
    })
    const whole = type === 'application/json' ? text : `data: ${text}\n\n`
    const chunked = Array.from(whole, byte => `1\r\n${byte}\r\n`).join('')
    let before = 0
    let grown = Number.POSITIVE_INFINITY
    const { delivered } = await post(response => {
      const { socket } = response
      socket?.write(`HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`)
      before = heldMemory()
      socket?.write(chunked, async () => {
        // Both ends are in this process, so this many rounds read all of it.
        for (let round = 0; round < 500; round++) await setImmediate()
        grown = heldMemory() - before
        socket.write('0\r\n\r\n')
      })
    })
    expect(delivered).toHaveLength(1)
    expect(grown).toBeLessThan(15_000_000)
  },
)
