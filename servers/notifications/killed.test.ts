import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../../tests/support/until.ts'
import { createFakeClock } from '../kit/testing/fake-clock.ts'
import { type FaultyUpstream, ok, slow, startFaultyUpstream, status } from '../kit/testing/faulty-upstream.ts'
import { startWorld } from '../kit/testing/server-world.ts'
import { notifications } from './server.ts'

const SERVER = fileURLToPath(new URL('./server.ts', import.meta.url))
const published = { id: 'abc123', time: 1, message: 'disk full' }

let folder: string
let upstream: FaultyUpstream
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'superbloom-notifications-'))
  upstream = await startFaultyUpstream({ 'POST /': ok(published), 'GET /lab/json': ok('') })
})
afterEach(async () => {
  await upstream[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** Starts the server's process, with a client of it. */
async function startServer() {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [SERVER],
    env: { NTFY_URL: `${upstream.url}/lab`, NOTIFICATIONS_DATA: join(folder, 'n.db') },
    stderr: 'ignore',
  })
  await client.connect(transport)
  return {
    send: (key: string) =>
      client.callTool({
        name: 'send_notification',
        arguments: { message: 'disk full' },
        _meta: { 'superbloom/idempotencyKey': key },
      }),
    async newest() {
      const { structuredContent } = await client.callTool({ name: 'get_notification_history', arguments: {} })
      return (structuredContent as { notifications: Record<string, unknown>[] }).notifications[0] ?? {}
    },
    kill: () => process.kill(transport.pid ?? 0, 'SIGKILL'),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

test('killed between accepting and delivering, it delivers after a new start; the repeated call changes nothing', async () => {
  upstream.will(status(503, 'busy'))
  {
    await using server = await startServer()
    expect(await server.send('call_1')).toMatchObject({
      structuredContent: { deliveries: [{ status: 'retrying' }] },
    })
    server.kill()
  }
  upstream.will(undefined)
  await using server = await startServer()
  await until('it is sent', async () => (await server.newest())['status'] === 'sent', { within: 30_000 })
  expect(await server.send('call_1')).toMatchObject({
    structuredContent: { deliveries: [{ status: 'sent' }] },
  })
  expect(upstream.requests).toHaveLength(2)
})

/** Returns an ntfy that keeps the messages it takes, and calls `onTry` with the moment of each try. */
function keepMessages(onTry: (moment: 'come' | 'kept') => void) {
  const kept: { id: string; time: number; message: string }[] = []
  let gone = false
  upstream.route({
    'POST /': ({ body }) => {
      onTry('come')
      const message = { id: `m${kept.length}`, time: 1, message: String(JSON.parse(body).message) }
      if (gone) return slow
      kept.push(message)
      onTry('kept')
      return gone ? slow : ok(message)
    },
    'GET /lab/json': () => status(200, kept.map(one => JSON.stringify(one)).join('\n')),
  })
  return {
    kept,
    leave() {
      gone = true
    },
  }
}

test.each(['come', 'kept'] as const)(
  'killed in a try whose message had %s, it arrives exactly once',
  async moment => {
    await using server = await startServer()
    const ntfy = keepMessages(at => {
      if (at !== moment || upstream.requests.length > 1) return
      server.kill()
      ntfy.leave()
    })
    await server.send('call_1').catch((error: unknown) => error)
    const before = ntfy.kept.length
    expect(before).toBe(moment === 'kept' ? 1 : 0)
    const { kept } = keepMessages(() => undefined)
    kept.push(...ntfy.kept)
    const clock = createFakeClock(Date.now())
    const environment = { NTFY_URL: `${upstream.url}/lab`, NOTIFICATIONS_DATA: join(folder, 'n.db') }
    await using world = await startWorld(notifications, { clock, environment })
    await until('it is sent', async () => {
      const { data } = await world.call('get_notification_history', { status: 'sent' })
      return data['total'] === 1
    })
    expect(kept).toHaveLength(1)
    expect(kept[0]?.message.split('\n')[0]).toBe('disk full')
    expect(kept[0]?.message.includes('Sent again')).toBe(moment === 'come')
  },
)

test('killed before its first answer, what it accepted is there', async () => {
  upstream.will(slow)
  {
    await using server = await startServer()
    const call = server.send('call_1').catch((error: unknown) => error)
    await upstream.nextRequest()
    server.kill()
    await call
  }
  await using server = await startServer()
  expect(await server.newest()).toMatchObject({ message: 'disk full', status: 'sending', attempts: 2 })
})
