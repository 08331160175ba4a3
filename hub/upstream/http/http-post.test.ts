import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer as createRawServer } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { type JSONRPCMessage, SdkErrorCode } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { CERTIFICATE, CERTIFICATE_KEY } from '../../../tests/support/certificate.ts'
import { createFakeClock } from '../../../tests/support/fake-clock.ts'
import { heldMemory } from '../../../tests/support/heap.ts'
import { systemClock } from '../../core/clock.ts'
import { FLOOD_PAUSE_MS, LONGEST_MESSAGE } from '../bounds.ts'
import type { Refusal } from '../oauth/authorization.ts'
import { createHttpPost, type HttpPostDeps } from './http-post.ts'

const REQUEST = { jsonrpc: '2.0', id: 'hub-1', method: 'tools/call', params: {} } as const
const ANSWER = { jsonrpc: '2.0', id: 'hub-1', result: { content: [] } } as const

/** Posts once to a server that answers with `answer`; returns what arrived. */
async function post(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
  deps: Partial<HttpPostDeps> = {},
  signal = new AbortController().signal,
) {
  const server = createServer((request, response) => answer(response, request))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const delivered: JSONRPCMessage[] = []
  const send = createHttpPost({
    clock: systemClock,
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`),
    headers: () => ({}),
    authorization: undefined,
    ...deps,
  })
  try {
    await send(REQUEST, message => delivered.push(message), signal)
    return { delivered }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const asJson = (response: ServerResponse) =>
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(ANSWER))
const stream = (text: string) => (response: ServerResponse) =>
  response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(text)

test('an answer comes as JSON or on a stream', async () => {
  const asStream = stream(`event: message\nid: 7\ndata: ${JSON.stringify(ANSWER)}\n\n`)
  for (const answer of [asJson, asStream]) expect((await post(answer)).delivered).toEqual([ANSWER])
})

test('an answer may begin with a byte order mark, and stand in an array', async () => {
  for (const text of [`\ufeff${JSON.stringify(ANSWER)}`, JSON.stringify([ANSWER])]) {
    const asText = (response: ServerResponse) =>
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(text)
    const prefix = text.startsWith('\ufeff') ? '\ufeff' : ''
    const asEvent = stream(`${prefix}data: ${text.slice(prefix.length)}\n\n`)
    for (const answer of [asText, asEvent]) expect((await post(answer)).delivered).toEqual([ANSWER])
  }
})

const ENCODERS = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync }

test.each(['gzip', 'br', 'deflate'] as const)(
  'an answer in %s is read, and bounded as any',
  async encoding => {
    const encoded = (text: string) => (response: ServerResponse) =>
      response
        .writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': encoding })
        .end(ENCODERS[encoding](text))
    expect((await post(encoded(JSON.stringify(ANSWER)))).delivered).toEqual([ANSWER])
    const text = 'x'.repeat(LONGEST_MESSAGE)
    await expect(post(encoded(JSON.stringify({ ...ANSWER, result: { text } })))).rejects.toThrow(
      'message over',
    )
  },
)

test('headers go as Latin-1 beside a body of UTF-8', async () => {
  let seen: unknown
  await post(
    (response, { headers }) => {
      seen = headers['x-of']
      asJson(response)
    },
    { headers: () => ({ 'X-Of': 'é' }) },
  )
  expect(seen).toBe('é')
})

test('the connection of a request that nobody waits for is closed', async () => {
  const closed = Promise.withResolvers<void>()
  const given = new AbortController()
  const posted = post(
    response => {
      response.on('close', closed.resolve)
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': begun\n\n')
      given.abort(new Error('given up'))
    },
    {},
    given.signal,
  )
  await expect(posted).rejects.toThrow('given up')
  await closed.promise
})

test('a stream that stays open after its answer is cut off', async () => {
  const clock = createFakeClock()
  const posted = post(
    response =>
      response
        .writeHead(200, { 'Content-Type': 'text/event-stream' })
        .write(`data: ${JSON.stringify(ANSWER)}\n\n`),
    { clock },
  )
  await clock.armed(2_000, 0)
  clock.advance(2_000)
  expect((await posted).delivered).toEqual([ANSWER])
})

test('a refused request is made once more if new tokens came', async () => {
  const seen: unknown[] = []
  const authorization = {
    bearer: 'old',
    fresh: () => undefined,
    async refused({ used, authenticate, again }: Refusal) {
      seen.push(used, authenticate)
      this.bearer = 'new'
      return !again
    },
  }
  const refuse = (response: ServerResponse, { headers }: IncomingMessage) => {
    seen.push(headers.authorization)
    if (headers.authorization === 'Bearer new') return asJson(response)
    return response.writeHead(401, { 'WWW-Authenticate': 'Bearer error="x"' }).end()
  }
  expect((await post(refuse, { authorization })).delivered).toEqual([ANSWER])
  expect(seen).toEqual(['Bearer old', 'old', 'Bearer error="x"', 'Bearer new'])
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
  const answer = `data: ${JSON.stringify(ANSWER)}\n\n`
  const { delivered } = await post(stream(`${note.repeat(5_000)}${answer}`), { clock })
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

test('a server that cannot show who it is hears nothing, one that can is asked', async () => {
  let heard = 0
  const server = createSecureServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (_request, response) => {
    heard++
    asJson(response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
  const delivered: JSONRPCMessage[] = []
  const ask = () =>
    createHttpPost({ clock: systemClock, url, headers: () => ({}), authorization: undefined })(
      REQUEST,
      message => delivered.push(message),
      new AbortController().signal,
    )
  const before = getCACertificates('default')
  try {
    await expect(ask()).rejects.toThrow('self-signed certificate')
    expect(heard).toBe(0)
    setDefaultCACertificates([...before, CERTIFICATE])
    await ask()
    expect(delivered).toEqual([ANSWER])
  } finally {
    setDefaultCACertificates(before)
    server.closeAllConnections()
    server.close()
  }
})

/** Serves raw bytes to each connection; returns its URL and how many were opened. */
async function serveRaw(answer: string) {
  let opened = 0
  const server = createRawServer(socket => {
    opened++
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(answer))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
  const post = createHttpPost({ clock: systemClock, url, headers: () => ({}), authorization: undefined })
  return {
    opened: () => opened,
    ask: () => post(REQUEST, () => undefined, new AbortController().signal),
    [Symbol.dispose]: () => void server.close(),
  }
}

test('a server that closes each connection after its answer, and does not say so, loses nothing', async () => {
  const body = JSON.stringify(ANSWER)
  using server = await serveRaw(
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  for (let count = 0; count < 50; count++) await server.ask()
  expect(server.opened()).toBe(50)
})

test.each([
  ['goes away', '', 'other side closed'],
  ['breaks off', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nonly', 'other side closed'],
  ['does not speak HTTP', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', 'does not match the HTTP/1.1 protocol'],
])('a server that %s is an error, which warns of a repeat', async (_what, answer, error) => {
  using server = await serveRaw(answer)
  const failure = await server.ask().catch(reason => reason)
  expect(failure).toMatchObject({ code: SdkErrorCode.ConnectionClosed })
  expect(failure.message).toMatch(
    new RegExp(`^The connection closed before the answer came, so look what was done .*: .*${error}`),
  )
})
