import { request } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../hub/core/clock.ts'
import { untilReady } from '../support/downstream.ts'
import { INITIALIZE, mcpHeaders, send } from '../support/raw-http.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until, within } from '../support/until.ts'

/**
 * A server with three tools: one reports that it began and waits, another lets it end, the last reports
 * progress and returns three million characters.
 */
const SLOW = `import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
const ended = Promise.withResolvers()
serveStdio(() => {
  const server = new McpServer({ name: 'slow', version: '1.0.0' })
  const say = text => ({ content: [{ type: 'text', text }] })
  server.registerTool('begin', {}, async ({ mcpReq }) => {
    await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: mcpReq._meta.progressToken, progress: 1 } })
    await ended.promise
    await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: mcpReq._meta.progressToken, progress: 2 } })
    return say('at last')
  })
  server.registerTool('recite', {}, async ({ mcpReq }) => {
    await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: mcpReq._meta.progressToken, progress: 1 } })
    return say('x'.repeat(3e6))
  })
  server.registerTool('finish', {}, () => { ended.resolve(); return say('done') })
  return server
})
`

/** Milliseconds between two checks for idle sessions, and the longest idle time of a session. */
const SWEEP_MS = 60_000
const IDLE_MS = 30 * 60_000

let hub: TestHub
/** Milliseconds by which the hub's clock is ahead of the real one. */
let ahead = 0
let sweep: (() => void) | undefined

beforeEach(async () => {
  ahead = 0
  hub = await startTestHub({
    config: 'servers: { metrics: false }',
    data: { 'servers/slow/server.mjs': SLOW },
    overrides: {
      clock: {
        ...systemClock,
        monotonic: () => systemClock.monotonic() + ahead,
        after(delay, run) {
          if (delay === SWEEP_MS) sweep = run
          return systemClock.after(delay, run)
        },
      },
    },
  })
  await untilReady(hub, 'slow')
})
afterEach(() => hub[Symbol.asyncDispose]())

/** Requests the events after an event. */
const resume = (session: Record<string, string>, lastEventId: string) =>
  send(`${hub.url}/mcp`, {
    headers: mcpHeaders(hub.token, {
      ...session,
      Accept: 'text/event-stream',
      'Last-Event-ID': lastEventId,
    }),
  })

const post = (message: object, headers: Record<string, string>) =>
  send(`${hub.url}/mcp`, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    headers: mcpHeaders(hub.token, headers),
  })

async function openSession(): Promise<Record<string, string>> {
  const opened = await send(`${hub.url}/mcp`, {
    method: 'POST',
    body: INITIALIZE,
    headers: mcpHeaders(hub.token),
  })
  const session = { 'Mcp-Session-Id': String(opened.headers['mcp-session-id']) }
  await post({ method: 'notifications/initialized' }, session)
  return session
}

/** Sends a call and breaks its connection after the first event; resolves with that event's id. */
function callAndBreak(session: Record<string, string>, name = 'begin'): Promise<string> {
  const params = { name: `slow__${name}`, arguments: {}, _meta: { progressToken: 'p' } }
  return new Promise((resolve, reject) => {
    const sent = request(
      `${hub.url}/mcp`,
      { method: 'POST', headers: mcpHeaders(hub.token, session) },
      response => {
        let text = ''
        response.on('error', () => undefined)
        response.setEncoding('utf8').on('data', chunk => {
          text += chunk
          const [, id] = /^id: (.+)$/m.exec(text) ?? []
          if (id === undefined || !text.includes('\n\n')) return
          sent.destroy()
          resolve(id)
        })
      },
    )
    sent.on('error', reject)
    sent.end(JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params }))
  })
}

test('a client whose connection breaks in a call goes on where it was, and another session cannot', async () => {
  const session = await openSession()
  const lastEventId = await callAndBreak(session)
  expect(
    (await post({ id: 8, method: 'tools/call', params: { name: 'slow__finish' } }, session)).json,
  ).toMatchObject({ id: 8, result: { content: [{ text: 'done' }] } })
  const other = await openSession()
  expect((await resume(other, lastEventId)).status).toBe(400)
  const resumed = await resume(session, lastEventId)
  expect(resumed.status).toBe(200)
  expect(resumed.text).toContain('"progress":2')
  expect(resumed.text).not.toContain('"progress":1')
  expect(resumed.json).toMatchObject({ id: 7, result: { content: [{ text: 'at last' }] } })
})

test('a session whose only open connection is a resumed one is not idle', async () => {
  const session = await openSession()
  const lastEventId = await callAndBreak(session)
  const headers = mcpHeaders(hub.token, {
    ...session,
    Accept: 'text/event-stream',
    'Last-Event-ID': lastEventId,
  })
  const resumed = Promise.withResolvers<string>()
  const asked = request(`${hub.url}/mcp`, { headers }, async response => {
    ahead += IDLE_MS + 1
    sweep?.()
    const finish = { id: 8, method: 'tools/call', params: { name: 'slow__finish' } }
    expect((await post(finish, session)).status).toBe(200)
    let text = ''
    for await (const part of response) text += part
    resumed.resolve(text)
  })
  asked.on('error', resumed.reject)
  asked.end()
  expect(await resumed.promise).toContain('at last')
})

test('a session hears of changes again however much else it was sent before its own stream broke', async () => {
  const session = await openSession()
  const watch = (headers: Record<string, string>, onEvent: (id: string) => void) =>
    new Promise<{ status: number | undefined; end: () => void }>((resolve, reject) => {
      const options = {
        headers: mcpHeaders(hub.token, { ...session, Accept: 'text/event-stream', ...headers }),
      }
      const asked = request(`${hub.url}/mcp`, options, response => {
        response.on('error', () => undefined)
        response.setEncoding('utf8').on('data', text => {
          const [, id] = /^id: (.+)$/m.exec(text) ?? []
          if (id !== undefined && text.includes('resources/list_changed')) onEvent(id)
        })
        resolve({ status: response.statusCode, end: () => asked.destroy() })
      })
      asked.on('error', reject).end()
    })
  const first = Promise.withResolvers<string>()
  const before = await watch({}, first.resolve)
  hub.writeAgent('second', '---\ndescription: Comes later\n---\n\nYou help.\n')
  const lastEventId = await within('the first change', first.promise)
  for (let count = 0; count < 500; count++) await post({ id: count, method: 'ping' }, session)
  before.end()
  const again = Promise.withResolvers<string>()
  const after = await until('the hub saw it break', async () => {
    const opened = await watch({ 'Last-Event-ID': lastEventId }, again.resolve)
    if (opened.status !== 409) return opened
    opened.end()
    return undefined
  })
  expect(after.status).toBe(200)
  hub.removeAgent('second')
  await within('the next change', again.promise)
  after.end()
})

test('nobody comes back for the answer to a call that was cancelled', async () => {
  const session = await openSession()
  const lastEventId = await callAndBreak(session)
  const cancelled = { method: 'notifications/cancelled', params: { requestId: 7 } }
  expect((await post(cancelled, session)).status).toBe(202)
  expect((await resume(session, lastEventId)).status).toBe(400)
})

test('a cancellation that overtakes its call ends it, and no later call of that id', async () => {
  const session = await openSession()
  const cancelled = { method: 'notifications/cancelled', params: { requestId: 7 } }
  const begin = { id: 7, method: 'tools/call', params: { name: 'slow__begin', arguments: {} } }
  expect((await post(cancelled, session)).status).toBe(202)
  const { text } = await within('the cancelled call', post(begin, session))
  expect(text).not.toContain('"result"')
  const finish = { id: 7, method: 'tools/call', params: { name: 'slow__finish', arguments: {} } }
  expect((await post(finish, session)).json).toMatchObject({ result: { content: [{ text: 'done' }] } })
  expect((await post(cancelled, session)).status).toBe(202)
  ahead += 60_000
  expect((await post(finish, session)).json).toMatchObject({ result: { content: [{ text: 'done' }] } })
})

test('of long answers only the latest are kept', async () => {
  const session = await openSession()
  const [first, second] = [await callAndBreak(session, 'recite'), await callAndBreak(session, 'recite')]
  const recited = { result: { content: [{ text: 'x'.repeat(3e6) }] } }
  expect((await resume(session, second)).json).toMatchObject(recited)
  expect((await resume(session, first)).status).toBe(400)
})
