import { afterAll, beforeAll, expect, test } from 'vitest'
import { LINES, openClient } from '../support/clients.ts'
import { type Configured, recorder, untilReady } from '../support/downstream.ts'
import { untilNoChildren } from '../support/processes.ts'
import { INITIALIZE, mcpHeaders, type RawRequest, rpc, send } from '../support/raw-http.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { within } from '../support/until.ts'

let hub: TestHub
let rec: Configured

beforeAll(async () => {
  rec = recorder()
  hub = await startTestHub({ config: JSON.stringify({ servers: { metrics: false, rec: rec.entry } }) })
  await untilReady(hub, 'rec')
})
afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  rec[Symbol.dispose]()
  await untilNoChildren()
})

const ask = (request: RawRequest) =>
  send(`${hub.url}/mcp`, { method: 'POST', ...request, headers: mcpHeaders(hub.token, request.headers) })

/** Opens a legacy session; returns the header with its id. */
async function openSession(): Promise<{ 'Mcp-Session-Id': string }> {
  const answer = await ask({ body: INITIALIZE })
  expect(answer.status).toBe(200)
  expect(answer.json).toMatchObject({
    result: { protocolVersion: '2025-06-18', serverInfo: { name: 'superbloom' } },
  })
  const headers = { 'Mcp-Session-Id': String(answer.headers['mcp-session-id']) }
  const initialized = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })
  expect((await ask({ body: initialized, headers })).status).toBe(202)
  return headers
}
const list = (headers: Record<string, string>) => ask({ body: rpc('tools/list'), headers })

test('each legacy client has a session of its own, which DELETE ends', async () => {
  const one = await openSession()
  const two = await openSession()
  expect(one).not.toEqual(two)
  expect((await list(one)).json).toMatchObject({ result: { tools: expect.any(Array) } })
  expect((await ask({ method: 'DELETE', headers: one })).status).toBe(200)
  expect((await list(one)).status).toBe(404)
  expect((await ask({ method: 'DELETE', headers: one })).status).toBe(404)
  expect((await list(two)).status).toBe(200)
})

test('a session that there is not gets 404 and the way out, whatever the method', async () => {
  const headers = { 'Mcp-Session-Id': 'not-one' }
  for (const request of [
    { body: rpc('tools/list'), headers },
    { method: 'GET', headers },
    { method: 'DELETE', headers },
  ]) {
    const answer = await ask(request)
    expect(answer.status).toBe(404)
    expect(answer.json).toMatchObject({
      error: { code: -32_001, message: expect.stringContaining('initialize again') },
    })
  }
})

test('without a session only initialize is served', async () => {
  for (const request of [{ body: rpc('tools/list') }, { method: 'GET' }, { method: 'DELETE' }]) {
    const answer = await ask(request)
    expect(answer.status).toBe(400)
    expect(answer.json).toMatchObject({ error: { message: expect.stringContaining('initialize first') } })
  }
})

test('a session does not survive the hub, and its client is told so', async () => {
  const before = await openSession()
  await hub.stop()
  await hub.start()
  expect((await list(before)).status).toBe(404)
  expect((await list(await openSession())).status).toBe(200)
  await untilReady(hub, 'rec')
})

test('open streams and calls do not keep the hub from stopping', async () => {
  const clients = await Promise.all(LINES.map(line => openClient(line, hub)))
  const calls = clients.map(async (client, index) => {
    await client.watchTools()
    await expect(client.call('rec__wait', { name: `left ${index}` })).rejects.toThrow()
  })
  await Promise.all(clients.map((_, index) => rec.recorded(`started left ${index}`)))
  await within('the hub stops', hub.stop())
  for (const client of clients) await client[Symbol.asyncDispose]()
  await Promise.all(calls)
  await hub.start()
  await untilReady(hub, 'rec')
})

test('a client that goes away in the middle of a call leaves the server to the others', async () => {
  const from = hub.logs.all.length
  for (const line of LINES) {
    const leaving = await openClient(line, hub)
    const call = leaving.call('rec__wait', { name: `leaving ${line}` }).catch(() => undefined)
    await rec.recorded(`started leaving ${line}`)
    await leaving[Symbol.asyncDispose]()
    await call
    await using staying = await openClient(line, hub)
    expect((await staying.call('rec__count', { to: 1 })).isError).toBeFalsy()
  }
  expect(hub.logs.all.slice(from).filter(({ event }) => event === 'server_down')).toEqual([])
})
