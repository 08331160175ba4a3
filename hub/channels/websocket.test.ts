import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { OWNER_PRINCIPAL } from '../../tests/support/principals.ts'
import { until } from '../../tests/support/until.ts'
import { createLog } from '../core/log.ts'
import type { Principal } from '../core/principal.ts'
import { createSignals } from '../core/signals.ts'
import { PING_MS } from './keep-alive.ts'
import { attachWebSocket, MOST_SOCKETS } from './websocket.ts'

async function openDoor(caller: Principal = OWNER_PRINCIPAL) {
  await using stack = new AsyncDisposableStack()
  const server = createServer()
  const clock = createFakeClock()
  const signals = createSignals(error => expect.unreachable(String(error)))
  stack.defer(async () => {
    server.close()
    await once(server, 'close')
  })
  const never = () => Promise.reject(new Error('nobody asks for it here'))
  stack.use(
    attachWebSocket(server, {
      clock,
      networkClock: clock,
      log: createLog({ level: 'error', now: clock.now, write: () => undefined }),
      signals,
      admit: () => caller,
      look: () => () => undefined,
      hold: () => () => undefined,
      mayUse: () => true,
      createLimit: () => () => true,
      welcome: async () => ({
        type: 'welcome',
        protocol: 1,
        hub: { name: 'superbloom', version: '0' },
        you: { name: 'owner', role: 'owner' },
        agents: [],
        conversations: [],
      }),
      countAnswer: () => undefined,
      postMessage: never,
      refuse: never,
      decide: never,
      stop: never,
      readMessages: never,
      lastSeq: never,
      findEntry: never,
    }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`
  const owned = stack.move()
  return {
    clock,
    signals,
    connect: (options: { autoPong?: boolean } = {}) => new WebSocket(url, 'superbloom.v1', options),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

test('a socket whose client is gone without a word is dropped, and one that answers pings stays', async () => {
  await using door = await openDoor()
  const alive = door.connect()
  const dead = door.connect({ autoPong: false })
  await Promise.all([once(alive, 'message'), once(dead, 'message')])
  const gone = once(dead, 'close')
  for (let round = 0; round < 3; round++) {
    const pinged = once(alive, 'pong')
    const asked = once(alive, 'ping')
    door.clock.advance(PING_MS)
    await asked
    // This ping reaches the hub after the client's pong to the hub's own ping.
    alive.ping()
    await pinged
  }
  await gone
  expect(alive.readyState).toBe(WebSocket.OPEN)
  expect(door.clock.timers).toBe(1)
  alive.close()
  await until('the timer of the last socket is gone', () => door.clock.timers === 0, {
    on: look => {
      const turn = setImmediate(look)
      return () => clearImmediate(turn)
    },
  })
})

test('more sockets than the limit are refused, with a reason', async () => {
  await using door = await openDoor()
  const sockets = Array.from({ length: MOST_SOCKETS }, () => door.connect())
  await Promise.all(sockets.map(socket => once(socket, 'open')))
  const refused = door.connect()
  const [, response] = (await once(refused, 'unexpected-response')) as [unknown, IncomingMessage]
  expect(response.statusCode).toBe(503)
  response.setEncoding('utf8')
  expect((await response.toArray()).join('')).toContain(`${MOST_SOCKETS} chats open already`)
})

test('the owner hears that something of the hub changed, and a member does not', async () => {
  for (const [caller, heard] of [
    [OWNER_PRINCIPAL, ['welcome', 'changed', 'pong']],
    [{ ...OWNER_PRINCIPAL, name: 'anna', role: 'member' }, ['welcome', 'pong']],
  ] as const) {
    await using door = await openDoor(caller)
    const socket = door.connect()
    const frames: string[] = []
    const ended = Promise.withResolvers<void>()
    socket.on('message', data => {
      const { type } = JSON.parse(String(data))
      frames.push(type)
      if (type === 'pong') ended.resolve()
      if (type !== 'welcome') return
      door.signals.emit('servers', { tools: true, resources: false, prompts: false })
      socket.send('{"type":"ping"}')
    })
    await ended.promise
    expect(frames).toEqual(heard)
  }
})
