import { Agent, type ClientRequest, request } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../hub/core/clock.ts'
import { odd, untilReady } from '../support/downstream.ts'
import {
  connectionsTo,
  type FaultWorld,
  openFaultWorld,
  takeCensus,
  untilNothingLeft,
  worstWhile,
} from '../support/fault-world.ts'
import { INITIALIZE, mcpHeaders, rpc, send } from '../support/raw-http.ts'
import { until } from '../support/until.ts'

/**
 * Milliseconds that a call may take while a thousand clients connect in the same process, on the same
 * processor.
 */
const BUSY_MS = 10_000
const CLIENTS = 1_000
/** Milliseconds between two checks for idle sessions, and after which an idle session ends. */
const SWEEP_MS = 60_000
const IDLE_MS = 30 * 60_000

let world: FaultWorld

afterEach(() => world[Symbol.asyncDispose]())

test('a server that answers 100 MB: the call fails with the reason, the server is back, the memory too', {
  timeout: 120_000,
}, async () => {
  world = await openFaultWorld({ big: odd('tool=huge').entry })
  await untilReady(world.hub, 'big')
  for (let round = 0; round < 3; round++) {
    await world.unharmedBy(async () => {
      const from = world.hub.logs.all.length
      expect(await world.call('big__huge')).toMatchObject({ isError: true })
      const down = await world.hub.logs.find('it is down', one => one.event === 'server_down', from)
      expect(down['error']).toBe('it sent a message over 10485760 bytes')
      await world.untilState('big', 'ready')
    })
  }
})

/** A raw legacy client: its session, and its open stream. */
interface RawClient {
  session: string
  stream: ClientRequest
}

async function connect(agent: Agent): Promise<RawClient> {
  const { url, token } = world.hub
  const opened = await send(`${url}/mcp`, { method: 'POST', headers: mcpHeaders(token), body: INITIALIZE })
  const session = String(opened.headers['mcp-session-id'])
  const headers = mcpHeaders(token, { 'Mcp-Session-Id': session })
  const listed = await send(`${url}/mcp`, { method: 'POST', headers, body: rpc('tools/list') })
  expect([opened.status, listed.status]).toEqual([200, 200])
  const stream = await new Promise<ClientRequest>((resolve, reject) => {
    const sent = request(`${url}/mcp`, { headers: { ...headers, Accept: 'text/event-stream' }, agent })
    sent.on('response', response => {
      response.on('error', () => undefined)
      response.resume()
      resolve(sent)
    })
    sent.on('error', reject)
    sent.end()
  })
  return { session, stream }
}

async function connectAll(agent: Agent): Promise<RawClient[]> {
  const clients: RawClient[] = []
  const connectSome = async () => {
    while (clients.length < CLIENTS) clients.push(await connect(agent))
  }
  await Promise.all(Array.from({ length: 50 }, connectSome))
  return clients
}

const cut = (clients: RawClient[]) => {
  for (const { stream } of clients) stream.destroy()
}
const statusOf = async ({ session }: RawClient) => {
  const headers = mcpHeaders(world.hub.token, { 'Mcp-Session-Id': session })
  const { status } = await send(`${world.hub.url}/mcp`, { method: 'POST', headers, body: rpc('ping') })
  return status
}

test('1,000 clients that come back again and again, and never say goodbye', {
  timeout: 300_000,
}, async () => {
  let later = 0
  let sweeps = 0
  const clock: Clock = {
    ...systemClock,
    monotonic: () => systemClock.monotonic() + later,
    after(delay, run) {
      if (delay !== SWEEP_MS) return systemClock.after(delay, run)
      return systemClock.after(100, () => {
        run()
        sweeps++
      })
    },
  }
  world = await openFaultWorld({}, { clock })
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
  const before = takeCensus(world.hub)
  const first = await connectAll(agent)
  let last = first
  const worst = await worstWhile(
    async () => void (await world.client.call('good__pid')),
    async () => {
      cut(first)
      last = await connectAll(agent)
    },
  )
  expect(worst).toBeLessThan(BUSY_MS)
  // The number of sessions is limited, so the new ones have replaced the oldest.
  expect(await statusOf(first[0] as RawClient)).toBe(404)
  expect(await statusOf(last.at(-1) as RawClient)).toBe(200)
  cut(last)
  await until('their connections are closed', () => connectionsTo(world.hub) < 50)
  later = IDLE_MS + SWEEP_MS
  const sweptBefore = sweeps
  await until('their sessions are looked at', () => sweeps > sweptBefore)
  await untilNothingLeft(world.hub, before)
  for (const client of [last[0], last[500], last.at(-1)]) {
    expect(await statusOf(client as RawClient)).toBe(404)
  }
  agent.destroy()
})
