import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer as createRawServer, type Server, type Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, expect, test } from 'vitest'
import { CERTIFICATE, CERTIFICATE_KEY } from '../../../tests/support/certificate.ts'
import { createFakeClock } from '../../../tests/support/fake-clock.ts'
import { until } from '../../../tests/support/until.ts'
import { systemClock } from '../../core/clock.ts'
import { createHttpConnections, type HttpConnections } from './http-connections.ts'

const ended: (() => void)[] = []
afterEach(() => {
  for (const end of ended.splice(0)) end()
})

async function listen(server: Server, protocol = 'http') {
  const sockets = new Set<Socket>()
  let opened = 0
  server.on('connection', (socket: Socket) => {
    opened++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const end = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  ended.push(end)
  const url = new URL(`${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  return { url, sockets, end, opened: () => opened }
}

function connect(url: URL, clock = systemClock) {
  const connections = createHttpConnections(url, clock)
  ended.push(() => connections[Symbol.dispose]())
  return connections
}

/** Opens connections to a server that showed, by one request, that it keeps them. */
async function openKept(url: URL) {
  const clock = createFakeClock()
  const connections = connect(url, clock)
  await ask(connections)
  clock.advance(50)
  return { clock, connections }
}

/** Sends a request; resolves with the body of its response. */
function ask(connections: HttpConnections, body = 'ping', header = ''): Promise<string> {
  const head = `POST / HTTP/1.1\r\nHost: a\r\n${header}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    connections.send(head, body, {
      onHead: () => undefined,
      onBody: part => parts.push(Buffer.from(part)),
      onEnd: () => resolve(Buffer.concat(parts).toString()),
      onError: reject,
    })
  })
}

const countSockets = () => process.getActiveResourcesInfo().filter(name => name === 'TCPSocketWrap').length

const EMPTY = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n'

const echo: RequestListener = async (request, response) => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  response.end(`${request.headers['x-of'] ?? ''}${Buffer.concat(parts)}`)
}

test('one connection carries all requests that go one after the other, as many as there are at once each their own', async () => {
  const { url, opened } = await listen(createServer(echo))
  const { connections } = await openKept(url)
  for (const text of ['a', 'ü', '']) expect(await ask(connections, text)).toBe(text)
  expect(opened()).toBe(1)
  expect(await Promise.all(['1', '2', '3'].map(text => ask(connections, text)))).toEqual(['1', '2', '3'])
  expect(opened()).toBe(3)
})

test('headers go as Latin-1 beside a body of UTF-8', async () => {
  const { url } = await listen(createServer(echo))
  expect(await ask(connect(url), 'ü', 'X-Of: é\r\n')).toBe('éü')
})

test('a connection that nobody uses is closed, and nothing wakes up after that', async () => {
  const { url, sockets } = await listen(createServer(echo))
  const { clock } = await openKept(url)
  expect(clock.timers).toBe(1)
  clock.advance(4_000)
  await until('its connections are gone', () => sockets.size === 0)
  expect(clock.timers).toBe(0)
})

test('one that the server would close soon is not used, nor one that it says it closes', async () => {
  const hints: Record<string, Record<string, string>> = {
    soon: { 'Keep-Alive': 'timeout=1' },
    close: { Connection: 'close' },
  }
  const { url, opened } = await listen(
    createServer((request, response) => {
      response.writeHead(200, hints[String(request.headers['x-of'])] ?? {}).end('ok')
      request.resume()
    }),
  )
  const { connections } = await openKept(url)
  await ask(connections, '', 'X-Of: soon\r\n')
  expect(opened()).toBe(1)
  await ask(connections, '', 'X-Of: close\r\n')
  expect(opened()).toBe(2)
  await ask(connections)
  expect(opened()).toBe(3)
})

test('a server that closes each connection after its answer, and does not say so, loses nothing', async () => {
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
  const { url, opened } = await listen(
    createRawServer(socket => socket.once('data', () => socket.end(answer))),
  )
  const connections = connect(url)
  for (let count = 0; count < 50; count++) expect(await ask(connections)).toBe('ok')
  expect(opened()).toBe(50)
})

test('one that the server closed meanwhile is not used', async () => {
  const { url, sockets, opened } = await listen(createServer(echo))
  const { connections } = await openKept(url)
  const ended = Promise.withResolvers<string>()
  // A request that is sent while a connection ends must not use that connection.
  for (const socket of sockets) socket.on('end', () => ended.resolve(ask(connections))).end()
  expect(await ended.promise).toBe('ping')
  expect(opened()).toBe(2)
})

test('a server that is not there, goes away or talks nonsense is an error', async () => {
  const { url, end } = await listen(createServer(echo))
  end()
  await expect(ask(connect(url))).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  const silent = await listen(createRawServer(socket => socket.once('data', () => socket.end())))
  await expect(ask(connect(silent.url))).rejects.toMatchObject({ code: 'ECONNRESET' })
  const cut = 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nonly'
  const early = await listen(createRawServer(socket => socket.once('data', () => socket.end(cut))))
  await expect(ask(connect(early.url))).rejects.toMatchObject({ code: 'ECONNRESET' })
  const strange = await listen(
    createRawServer(socket => socket.once('data', () => socket.write('220 hi\r\n\r\n'))),
  )
  await expect(ask(connect(strange.url))).rejects.toThrow('does not speak HTTP')
  await until('its connection is gone', () => strange.sockets.size === 0)
})

test('a request that is cut off is told of no more, and its connection is closed', async () => {
  const { url, sockets } = await listen(createServer((_request, response) => response.write('begun')))
  const begun = Promise.withResolvers<void>()
  let told = 0
  const exchange = {
    onHead: () => undefined,
    onBody: () => begun.resolve(),
    onEnd: () => told++,
    onError: () => told++,
  }
  const sent = connect(url).send(EMPTY, '', exchange)
  await begun.promise
  sent.cut(exchange)
  await until('its connections are gone', () => sockets.size === 0)
  expect(told).toBe(0)
})

test('one that was cut off with the last of its answer is not used again', async () => {
  const { url, opened } = await listen(createServer(echo))
  const connections = connect(url)
  const next = Promise.withResolvers<string>()
  const exchange = {
    onHead: () => undefined,
    onBody: () => {
      sent.cut(exchange)
      queueMicrotask(() => next.resolve(ask(connections, 'next')))
    },
    onEnd: () => undefined,
    onError: () => undefined,
  }
  const sent = connections.send(EMPTY.replace('0', '4'), 'last', exchange)
  expect(await next.promise).toBe('next')
  expect(opened()).toBe(2)
})

test('a request that is over cannot cut off the one that its connection carries now', async () => {
  const { url, opened } = await listen(createServer(echo))
  const { connections } = await openKept(url)
  const over = Promise.withResolvers<void>()
  const exchange = {
    onHead: () => undefined,
    onBody: () => undefined,
    onEnd: over.resolve,
    onError: over.reject,
  }
  const sent = connections.send(EMPTY, '', exchange)
  await over.promise
  const next = ask(connections, 'next')
  sent.cut(exchange)
  expect(await next).toBe('next')
  expect(opened()).toBe(1)
})

test('a server that says no more, and never reads what it was sent, holds no connection', async () => {
  const server = createRawServer({ allowHalfOpen: true, pauseOnConnect: true }, socket => {
    socket.end('HTTP/1.1 413 Too Large\r\nContent-Length: 9\r\n\r\n')
  })
  const { url } = await listen(server)
  const connections = connect(url)
  const before = countSockets()
  await expect(ask(connections, 'x'.repeat(30_000_000))).rejects.toMatchObject({ code: 'ECONNRESET' })
  await until('only the server has its socket', () => countSockets() <= before + 1)
})

test('a server that cannot show who it is hears nothing, one that can is asked', async () => {
  let heard = 0
  const server = createSecureServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (request, response) => {
    heard++
    void echo(request, response)
  })
  const { url } = await listen(server, 'https')
  await expect(ask(connect(url), 'secret')).rejects.toThrow('self-signed certificate')
  expect(heard).toBe(0)
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, CERTIFICATE])
  try {
    const connections = connect(url)
    expect(await ask(connections, 'secret')).toBe('secret')
    expect(await ask(connections, 'again')).toBe('again')
    expect(heard).toBe(2)
  } finally {
    setDefaultCACertificates(before)
  }
})
