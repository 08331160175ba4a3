import { afterEach, expect, test } from 'vitest'
import { createEventLog } from '../events.ts'
import { type Served, serve } from '../serve.ts'
import { createFakeClock } from '../testing/fake-clock.ts'
import { createFixtureServer } from '../testing/fixture-server.ts'
import { openHttp } from './http.ts'

const TOKEN = 'a-token-for-tests'
const MINUTE = 60_000
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
}

let served: Served | undefined
afterEach(() => served?.[Symbol.asyncDispose]())

async function start() {
  const clock = createFakeClock()
  const transport = { kind: 'http', port: 0, token: TOKEN } as const
  served = await serve(createFixtureServer(), { transport, environment: {}, clock, log: () => undefined })
  return { clock, url: served.url ?? '' }
}

function send(url: string, method: string, session?: string, body?: object, signal?: AbortSignal) {
  return fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  })
}

async function initialize(url: string): Promise<string> {
  const response = await send(url, 'POST', undefined, INITIALIZE)
  await response.text()
  return response.headers.get('mcp-session-id') ?? ''
}

async function ping(url: string, session: string): Promise<number> {
  const response = await send(url, 'POST', session, { jsonrpc: '2.0', id: 2, method: 'ping' })
  await response.text()
  return response.status
}

test('an unused session ends after half an hour, when another begins', async () => {
  const { clock, url } = await start()
  const first = await initialize(url)
  await clock.advance(29 * MINUTE)
  const second = await initialize(url)
  expect(await ping(url, first)).toBe(200)
  await clock.advance(31 * MINUTE)
  expect(await ping(url, second)).toBe(200)
  await initialize(url)
  expect(await ping(url, first)).toBe(404)
  expect(await ping(url, second)).toBe(200)
})

test('a session with an open stream does not end for being quiet', async () => {
  const { clock, url } = await start()
  const session = await initialize(url)
  const controller = new AbortController()
  const stream = await send(url, 'GET', session, undefined, controller.signal)
  expect(stream.status).toBe(200)
  await clock.advance(31 * MINUTE)
  await initialize(url)
  expect(await ping(url, session)).toBe(200)
  controller.abort()
  // The test reads the stream here: the garbage collector closes a response that nobody references.
  await expect(stream.text()).rejects.toThrow()
})

test('of a hundred sessions the longest unused makes room for one more', async () => {
  const { clock, url } = await start()
  const sessions: string[] = []
  for (let count = 0; count < 101; count++) {
    sessions.push(await initialize(url))
    await clock.advance(1)
  }
  expect(await ping(url, sessions[0] ?? '')).toBe(404)
  expect(await ping(url, sessions[1] ?? '')).toBe(200)
  expect(await ping(url, sessions[100] ?? '')).toBe(200)
})

test('a session ends when its client says so', async () => {
  const { url } = await start()
  const session = await initialize(url)
  expect((await send(url, 'DELETE', session)).status).toBe(200)
  expect(await ping(url, session)).toBe(404)
})

test('a hundred sessions that are all in use leave no room, and say so', async () => {
  const { url } = await start()
  const controller = new AbortController()
  // The array keeps the responses: the garbage collector closes those that nobody references.
  const streams: Response[] = []
  for (let count = 0; count < 100; count++) {
    streams.push(await send(url, 'GET', await initialize(url), undefined, controller.signal))
  }
  const response = await send(url, 'POST', undefined, INITIALIZE)
  expect(response.status).toBe(503)
  expect(await response.json()).toMatchObject({
    error: { message: expect.stringContaining('Too many open sessions') },
  })
  controller.abort()
  for (const stream of streams) await expect(stream.text()).rejects.toThrow()
})

test('an initialize that is refused leaves no session behind', async () => {
  const definition = createFixtureServer()
  const log = createEventLog('fixture', 'stream', createFakeClock())
  let listeners = 0
  const onChange = (listener: () => void) => {
    const stop = log.onChange(listener)
    listeners++
    return () => {
      listeners--
      stop()
    }
  }
  const app = {
    definition,
    tools: new Map(),
    events: { ...log, onChange },
    clock: createFakeClock(),
    log: () => undefined,
  }
  served = await openHttp(app, { port: 0, token: TOKEN })
  const before = listeners
  const response = await fetch(served.url ?? '', {
    method: 'POST',
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      accept: 'application/json',
    },
    body: JSON.stringify(INITIALIZE),
  })
  expect(response.status).toBe(406)
  expect(listeners).toBe(before)
  await initialize(served.url ?? '')
  expect(listeners).toBe(before + 1)
})
