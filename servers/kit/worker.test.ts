import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { healthReport } from '../../schemas/health.ts'
import { FOREIGN_LINE } from './foreign.ts'
import { type Served, serve } from './serve.ts'
import { CLIENT_KINDS, connectClient, type Target } from './testing/clients.ts'
import { createFakeClock } from './testing/fake-clock.ts'
import { assertFits, startWorld } from './testing/server-world.ts'
import { worker } from './testing/worker-server.ts'

const TOKEN = 'a-token-for-tests'
const FILE = fileURLToPath(new URL('./testing/worker-server.ts', import.meta.url))
const overStdio: Target = { kind: 'stdio', command: process.execPath, args: [FILE], env: {} }

let served: Served | undefined
afterEach(async () => {
  await served?.[Symbol.asyncDispose]()
  served = undefined
})

async function overHttp(environment: Record<string, string> = {}): Promise<Target & { kind: 'http' }> {
  const transport = { kind: 'http', port: 0, token: TOKEN } as const
  served = await serve(worker, { transport, environment, log: () => undefined })
  return { kind: 'http', url: served.url ?? '', token: TOKEN }
}

describe.each(CLIENT_KINDS)('the client %s', kind => {
  test.each([
    ['HTTP', overHttp],
    ['stdio', async () => overStdio],
  ])('hears of progress, health and text of others over %s', async (_what, open) => {
    await using client = await connectClient(kind, await open())
    const notes: number[] = []
    const result = await client.call('count', { to: 50 }, ({ progress }) => notes.push(progress))
    expect(result.text).toContain(`Counted to 50 for "a film".\n${FOREIGN_LINE}`)
    expect(notes).toEqual([1, 50])
    expect(await client.listUris()).toContain('health://worker')
    expect(healthReport.parse(JSON.parse(await client.readText('health://worker')))).toEqual({
      ok: false,
      upstreams: [
        { name: 'a', kind: 'thing', address: 'http://a', ok: true, version: '1.2' },
        { name: 'b', kind: 'thing', address: 'http://b', ok: false, reason: 'thing failed: down' },
      ],
    })
  })
})

test('the health door tells details to who has the token, and to nobody else', async () => {
  const { url } = await overHttp()
  const door = new URL('/healthz', url)
  const ask = (headers: Record<string, string>) => fetch(door, { headers })
  expect(await (await ask({ authorization: `Bearer ${TOKEN}` })).json()).toMatchObject({ ok: false })
  expect(await (await ask({})).text()).toBe('ok\n')
  expect(await (await ask({ authorization: 'Bearer wrong' })).text()).toBe('ok\n')
})

test('a server that is read-only has no tools that change anything', async () => {
  const names = async (environment: Record<string, string>) => {
    await using client = await connectClient('1.x', await overHttp(environment))
    return (await client.listTools()).map(({ name }) => name)
  }
  expect(await names({ WORKER_READ_ONLY: 'true' })).toEqual(['count'])
  await served?.[Symbol.asyncDispose]()
  expect(await names({ WORKER_READ_ONLY: 'false' })).toEqual(['count', 'wipe'])
  await expect(overHttp({ WORKER_READ_ONLY: 'maybe' })).rejects.toThrow(/WORKER_READ_ONLY is "maybe"/)
})

test('a world calls tools, and fails where the text is for no person', async () => {
  await using world = await startWorld(worker, { clock: createFakeClock(), environment: {} })
  expect(world.listed().map(({ name }) => name)).toEqual(['count', 'wipe'])
  expect(await world.call('count', { to: 2 })).toMatchObject({
    isError: false,
    data: { to: 2, title: 'a film' },
    untrusted: true,
    images: [{ data: 'AAAA', mimeType: 'image/png' }],
    progress: [{ progress: 1 }, { progress: 2, total: 2, message: 'at 2' }],
  })
  expect((await world.call('count', { to: 'x' })).isError).toBe(true)
  expect((await world.health())?.ok).toBe(false)
  expect(world.events()).toEqual([])
  await expect(world.call('none')).rejects.toThrow('There is no tool none.')
})

test('what does not fit a schema is said', () => {
  expect(() => assertFits({ type: 'object', required: ['a'] }, {})).toThrow(/must have required property/)
})
