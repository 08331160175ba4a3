import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test, vi } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import { runCli } from '../support/cli.ts'
import { openClient } from '../support/clients.ts'
import { openCrashHub } from '../support/crash-hub.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { HELLO, refuse, SSE, serve, stream } from '../support/provider.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'

vi.setConfig({ testTimeout: 120_000 })

const withProvider = (url: string) => ({
  SUPERBLOOM_MODEL: 'scripted',
  OPENAI_BASE_URL: url,
  OPENAI_API_KEY: 'none',
})

/** Opens a provider at a fixed address that can stop and start again. */
async function openProvider() {
  let server: Server | undefined
  let port = 0
  let asked = 0
  const come = async () => {
    const next = createServer((request, response) => {
      // The hub also asks for the sizes of its model.
      if (request.method === 'GET') return void response.writeHead(404).end()
      asked++
      request.resume()
      response.writeHead(200, SSE).end(HELLO)
    })
    await new Promise<void>(resolve => next.listen(port, '127.0.0.1', resolve))
    port = (next.address() as AddressInfo).port
    server = next
  }
  const go = async () => {
    const last = server
    server = undefined
    last?.closeAllConnections()
    await new Promise<void>(resolve => (last ? last.close(() => resolve()) : resolve()))
  }
  await come()
  return {
    url: `http://127.0.0.1:${port}/v1`,
    come,
    go,
    get asked() {
      return asked
    },
    [Symbol.asyncDispose]: go,
  }
}

const status = async (hub: TestHub) => {
  await using client = await openClient('sdk 1', hub)
  return (await client.call('hub_status', {})).structuredContent as Record<string, unknown>
}

test('promises 4, 11: a key that is refused makes a dead letter, seen everywhere, and a retry answers once', async () => {
  let isLocked = true
  await using provider = await serve((response, ...rest) =>
    isLocked ? refuse(response, 401, { message: 'no' }) : stream(HELLO)(response, ...rest),
  )
  await using hub = await startTestHub({ variables: withProvider(provider.url) })
  using chat = await openChat(hub)
  await chat.subscribe('homelab')
  const sent = await chat.say('homelab', 'hi there')
  const failed = await chat.answerTo(sent, ['error'])
  const { deadLetter: id } = failed.data as { deadLetter: string }
  expect(failed.text).toContain(`superbloom dead-letters retry ${id}`)
  expect(failed.data).toMatchObject({ retryable: false, attempt: 1, of: 1 })
  await chat.next('agent', frame => frame.status === 'failed')
  expect(await status(hub)).toMatchObject({ deadLetters: { open: 1 }, model: { parked: 0 } })
  using later = await openChat(hub)
  expect((await later.next('welcome')).agents[0]?.status).toBe('failed')
  expect(provider.bodies).toHaveLength(1)

  const run = (...args: string[]) => runCli(args, { cwd: hub.folder, variables: hub.variables })
  expect((await run('dead-letters')).stdout).toContain(id)
  expect((await run('dead-letters', 'show', id)).stdout).toMatch(/auth \(401\)[\s\S]*hi there/)
  isLocked = false
  expect((await run('dead-letters', 'retry', id)).stdout).toBe(`${id} is tried again by homelab.\n`)
  expect((await chat.answerTo(sent)).text).toBe('Hello')
  const again = await run('dead-letters', 'discard', id)
  expect([again.code, again.stderr]).toEqual([1, `superbloom: The dead letter ${id} is retried already\n`])
  expect((await run('dead-letters')).stdout).toBe('No dead letters.\n')
  expect((await run('dead-letters', '--all')).stdout).toContain('retried')
  expect(chat.messages.filter(({ kind }) => kind === 'agent')).toHaveLength(1)
})

test('promises 4, 11: a provider that is away parks the message, over a restart, and answers it once when it is back', async () => {
  await using provider = await openProvider()
  await provider.go()
  const clock = createFakeClock()
  await using hub = await startTestHub({ variables: withProvider(provider.url), overrides: { clock } })
  const first = await openChat(hub)
  await first.subscribe('homelab')
  const sent = await first.say('homelab', 'hi there')
  let timers = 0
  for (const wait of [1_500, 1_500]) {
    timers = await clock.armed(wait, timers)
    clock.advance(wait)
  }
  const failing = await first.answerTo(sent, ['error'])
  expect(failing.data).toMatchObject({ attempt: 3, of: 5, retryable: true })
  await until('the cycle is parked', async () => {
    clock.advance(5_000)
    return ((await status(hub))['model'] as { parked: number }).parked === 1
  })
  expect(await status(hub)).toMatchObject({ model: { health: [{ state: 'down' }] } })
  first[Symbol.dispose]()
  await hub.stop()
  await hub.start()
  expect(await status(hub)).toMatchObject({ model: { parked: 1 } })
  await provider.come()
  using chat = await openChat(hub)
  await chat.subscribe('homelab', 0)
  await until('it is answered', () => {
    clock.advance(10_000)
    return chat.messages.some(({ kind }) => kind === 'agent')
  })
  expect(provider.asked).toBe(1)
  const shown = chat.messages.map(({ kind, text }) => (kind === 'error' ? kind : `${kind}: ${text}`))
  expect(shown).toEqual([
    'user: hi there',
    'error',
    'error',
    'notice: The model answers again; I go on.',
    'agent: Hello',
  ])
  expect(await status(hub)).toMatchObject({ model: { parked: 0 }, deadLetters: { open: 0 } })
})

test('a fallback answers while the first model refuses', async () => {
  await using main = await serve(response => refuse(response, 403, { message: 'no' }))
  await using spare = await serve(stream(HELLO))
  const model = {
    default: { baseUrl: main.url, model: 'main' },
    fallback: [{ baseUrl: spare.url, model: 'spare' }],
  }
  await using hub = await startTestHub({ config: JSON.stringify({ servers: { metrics: false }, model }) })
  using chat = await openChat(hub)
  expect((await chat.ask('homelab', 'hi')).text).toBe('Hello')
  expect(await status(hub)).toMatchObject({
    model: {
      health: [
        { name: 'main', state: 'ok' },
        { name: 'spare', state: 'ok' },
      ],
    },
  })
})

test('three starts in a row that are killed at once hold the agents, until a person lets them go', async () => {
  await using hub = await openCrashHub()
  hub.provider.state.hold = true
  for (let crash = 1; crash <= 3; crash++) {
    const chat = await hub.start()
    if (crash === 1) await chat.say('homelab', 'please answer deadly')
    await until('the model is asked', () => hub.provider.streaming.all.length >= crash)
    await hub.kill()
  }
  hub.provider.state.hold = false
  const chat = await hub.start()
  expect((await chat.next('welcome')).hub.held).toEqual(expect.any(Number))
  await chat.subscribe('homelab', 0)
  const sent = await chat.say('homelab', 'please answer later')
  const notice = await chat.answerTo(sent, ['notice'])
  expect(notice.text).toContain('superbloom status --release')
  expect(hub.provider.streaming.all).toHaveLength(3)
  // A clean restart keeps the hold, because no person has released it.
  const run = (...args: string[]) => runCli(args, { variables: hub.variables })
  expect((await run('status')).stdout).toMatch(/^http.*\nHELD: /)
  const released = await run('status', '--release')
  expect(released.stderr).toBe('The agents run again.\n')
  expect(released.stdout).not.toContain('HELD')
  expect((await chat.answerTo(sent)).text).toBe('Answered: later')
  const dead = await run('dead-letters')
  expect(dead.stdout).toMatch(/The hub ended 3 times .* please answer deadly/)
  const rest = chat.messages.filter(
    ({ kind, inReplyTo }) => kind === 'notice' && inReplyTo?.includes(sent.id),
  )
  expect(rest).toHaveLength(1)
})

test('promise 11: a server that stays down is told in the first conversation and in hub_status', async () => {
  const clock = createFakeClock()
  const servers = { metrics: false, broken: { command: process.execPath, args: ['-e', 'process.exit(1)'] } }
  await using hub = await startTestHub({ config: JSON.stringify({ servers }), overrides: { clock } })
  using chat = await openChat(hub)
  await chat.subscribe('homelab')
  await until('it is told', () => {
    clock.advance(60_000)
    return chat.messages.some(({ text }) => text.startsWith('The server broken has been down for'))
  })
  expect(await status(hub)).toMatchObject({ serversDown: [{ name: 'broken' }] })
  clock.advance(60 * 60_000)
  expect(chat.messages.map(({ kind }) => kind)).toEqual(['notice'])
})
