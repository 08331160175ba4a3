import { afterEach, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../hub/core/clock.ts'
import { openClient, type TestClient, textOf } from '../support/clients.ts'
import { odd, untilReady } from '../support/downstream.ts'
import { createHttpServer } from '../support/http-servers.ts'
import { isRunning, untilNoChildren } from '../support/processes.ts'
import { INITIALIZE, mcpHeaders, rpc, send } from '../support/raw-http.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'

/** Milliseconds without a call after which a session's own connection ends. */
const IDLE_MS = 10 * 60_000

let hub: TestHub
let client: TestClient

async function boot(entry: object, clock: Clock = systemClock): Promise<void> {
  hub = await startTestHub({
    config: JSON.stringify({ servers: { metrics: false, own: { ...entry, isolated: true } } }),
    overrides: { clock },
  })
  client = await openClient('sdk 2, 2026-07-28', hub)
  await untilReady(hub, 'own')
}

afterEach(async () => {
  await client[Symbol.asyncDispose]()
  await hub[Symbol.asyncDispose]()
  await untilNoChildren()
})

const post = (body: string, headers: Record<string, string> = {}) =>
  send(`${hub.url}/mcp`, { method: 'POST', headers: mcpHeaders(hub.token, headers), body })

/** Opens a legacy client's session by raw requests. */
async function openSession() {
  const opened = await post(INITIALIZE)
  const headers = { 'Mcp-Session-Id': String(opened.headers['mcp-session-id']) }
  return {
    async call(name: string) {
      const { json } = await post(rpc('tools/call', { name }), headers)
      return textOf((json as { result: Parameters<typeof textOf>[0] }).result)
    },
    end: () => send(`${hub.url}/mcp`, { method: 'DELETE', headers: mcpHeaders(hub.token, headers) }),
  }
}

const statusOf = async () => {
  const { structuredContent } = await client.call('hub_status')
  return (structuredContent as { servers: { name: string; sessions?: number }[] }).servers[0]
}

test('each session has a process of its own, which ends with it; one more lists', async () => {
  await boot(odd().entry)
  expect(await statusOf()).toMatchObject({ state: 'ready', tools: 3, sessions: 0 })
  const [one, two] = [await openSession(), await openSession()]
  const pids = await Promise.all([
    one.call('own__pid'),
    two.call('own__pid'),
    client.call('own__pid').then(textOf),
  ])
  expect(new Set(pids).size).toBe(3)
  expect(await Promise.all([one.call('own__pid'), two.call('own__pid')])).toEqual(pids.slice(0, 2))
  expect(await statusOf()).toMatchObject({ sessions: 3 })
  await one.end()
  await until('its process is gone', () => !isRunning(Number(pids[0])))
  expect(await two.call('own__pid')).toBe(pids[1])
  process.kill(Number(pids[1]), 'SIGKILL')
  await until('the session has another', async () => {
    const text = await two.call('own__pid')
    return /^\d+$/.test(text) && text !== pids[1]
  })
  expect(textOf(await client.call('own__pid'))).toBe(pids[2])
})

test('sixteen sessions have their own, the next is told why not; one that is idle makes room', async () => {
  await using remote = createHttpServer('legacy')
  await remote.start(['one'])
  let fire: (() => void) | undefined
  await boot(
    { url: remote.url },
    {
      ...systemClock,
      after(delay, run) {
        if (delay !== IDLE_MS) return systemClock.after(delay, run)
        fire = run
        return () => undefined
      },
    },
  )
  const sessions = await Promise.all(Array.from({ length: 17 }, openSession))
  for (const session of sessions.slice(0, 16)) expect(await session.call('own__one')).toBe('one')
  expect(remote.sessions).toBe(17)
  expect(await sessions[16]?.call('own__one')).toMatch(
    /^16 sessions have a process of their own of the server own, which is the most\./,
  )
  fire?.()
  await until('there is room', async () => (await statusOf())?.sessions === 15)
  expect(await sessions[16]?.call('own__one')).toBe('one')
  await until('those that ended said so', () => remote.sessions === 17)
})
