import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../../tests/support/until.ts'
import { type FaultyUpstream, ok, slow, startFaultyUpstream, status } from '../kit/testing/faulty-upstream.ts'

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

/** The server's process, with a client of it. */
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
  expect(await server.newest()).toMatchObject({ message: 'disk full', status: 'sending', attempts: 1 })
})
