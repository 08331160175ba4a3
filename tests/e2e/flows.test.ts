import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type ChatClient, openChat } from '../support/chat-client.ts'
import { openClient, type TestClient } from '../support/clients.ts'
import { homelabServer, untilReady } from '../support/downstream.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'
import { call, createScriptedModel, type ScriptedModel, say } from '../support/scripted-model.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'

const MINUTE = 60_000

/** The default agent's events, each as in its file. */
const AGENT = `---
description: Looks after the homelab
events: [{ type: temp_high, as: task }, server_empty]
grants: [stop_game_server]
---
You look after the homelab.
`

interface House extends AsyncDisposable {
  hub: TestHub
  clock: FakeClock
  model: ScriptedModel
  chat: ChatClient
  client: TestClient
  /** Returns the calls that reached the homelab, in order. */
  calls(): string[]
  publish(type: string, payload: Record<string, unknown>): Promise<{ status: string; routedTo: string[] }>
  /** Waits until the model has got this many requests and nothing runs. */
  quiet(requests: number): Promise<void>
}

async function openHouse(): Promise<House> {
  const clock = createFakeClock()
  const model = createScriptedModel()
  const stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'superbloom-flows-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const log = join(folder, 'calls')
  const hub = stack.use(
    await startTestHub({
      agents: { homelab: AGENT },
      overrides: { clock, model },
      config: 'timezone: Europe/Berlin\nservers: { metrics: false }\n',
      data: {
        'servers/homelab/mcp.json': JSON.stringify({ ...homelabServer(log), prefix: '', trust: 'own' }),
      },
    }),
  )
  await untilReady(hub, 'homelab')
  const chat = stack.use(await openChat(hub))
  const client = stack.use(await openClient('sdk 2, 2026-07-28', hub))
  await chat.subscribe('homelab', 0)
  return {
    hub,
    clock,
    model,
    chat,
    client,
    calls: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
    async publish(type, payload) {
      const { structuredContent } = await client.call('hub_publish_event', { type, payload })
      return structuredContent as { status: string; routedTo: string[] }
    },
    async quiet(requests) {
      await until(`the model is asked ${requests} times and rests`, async () => {
        // A timer that was set only after its time had passed is due at once.
        clock.advance(0)
        if (model.requests.all.length < requests) return false
        const { structuredContent } = await client.call('hub_status')
        return (structuredContent as { queues: { busy: number; waiting: number } }).queues.busy === 0
      })
      expect(model.requests.all).toHaveLength(requests)
      // All frames that the hub sent before this answer have arrived.
      const from = chat.frames.all.length
      chat.send({ type: 'ping' })
      await chat.frames.find('the answer to a ping', ({ type }) => type === 'pong', from)
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const newest = (house: House) => house.model.requests.all.at(-1)?.messages.at(-1)?.text ?? ''

/**
 * The turns: metrics, pause, notify; then a wake-up in an hour or when the server is empty; resume; complete.
 */
const slowServer = [
  call([['get_system_metrics'], ['get_download_status']]),
  call([
    ['pause_downloads'],
    ['send_notification', { channel: 'ops', message: 'Downloads pause for ATM-10' }],
  ]),
  call(
    [
      [
        'schedule_wake',
        {
          delay: '60m',
          reason: 'resume downloads',
          wake_on_events: [{ type: 'server_empty', match: { server: 'atm-*' } }],
        },
      ],
    ],
    'The downloads took the line; I paused them for an hour.',
  ),
]

test('slow game server: downloads pause, and go on when the hour is over', async () => {
  await using house = await openHouse()
  const { chat, clock, model } = house
  model.script(...slowServer)
  const asked = await chat.say('homelab', 'the game server is slow')
  expect((await chat.answerTo(asked)).text).toContain('paused them for an hour')
  await house.quiet(3)
  clock.advance(59 * MINUTE)
  await house.quiet(3)
  model.script(
    call([['resume_downloads']]),
    call([['complete_task', { summary: 'resumed' }]], 'Downloads go on.'),
  )
  clock.advance(MINUTE)
  await house.quiet(5)
  expect(chat.messages.at(-1)).toMatchObject({ kind: 'agent', text: 'Downloads go on.' })
  expect(house.calls().map(line => line.split(' ')[0])).toEqual([
    'get_system_metrics',
    'get_download_status',
    'pause_downloads',
    'send_notification',
    'resume_downloads',
  ])
  clock.advance(24 * 60 * MINUTE)
  await house.quiet(5)
})

test('slow game server: they go on early when the server is empty, and not again at the hour', async () => {
  await using house = await openHouse()
  const { chat, clock, model } = house
  model.script(...slowServer)
  await chat.answerTo(await chat.say('homelab', 'the game server is slow'))
  await house.quiet(3)
  clock.advance(20 * MINUTE)
  model.script(call([['resume_downloads']]), say('Nobody plays any more, so the downloads go on.'))
  const routed = await house.publish('server_empty', { server: 'atm-10', previousCount: 2 })
  expect(routed).toMatchObject({ status: 'pending', routedTo: ['thr_homelab'] })
  await house.quiet(5)
  expect(model.requests.all[3]?.messages.at(-1)?.text).toContain('Woken early by the event server_empty')
  expect(chat.messages.at(-1)?.text).toContain('Nobody plays any more')
  clock.advance(2 * 60 * MINUTE)
  await house.quiet(5)
})

test('hot CPU: a task of its own warns, looks again in ten minutes, and ends without a word', async () => {
  await using house = await openHouse()
  const { chat, clock, model } = house
  model.script(
    call([['get_system_metrics']]),
    call([['send_notification', { channel: 'ops', message: 'The CPU is at 88 °C' }]]),
    call([['schedule_wake', { delay: '10m', reason: 'is it cooler?' }]]),
  )
  const { routedTo } = await house.publish('temp_high', {
    host: 'nas',
    sensor: 'cpu',
    temp: 88,
    threshold: 80,
  })
  expect(routedTo).toHaveLength(1)
  expect(routedTo[0]).not.toBe('thr_homelab')
  await house.quiet(3)
  model.script(
    call([['get_system_metrics']]),
    call([['complete_task', { summary: 'It cooled down by itself.' }]]),
  )
  clock.advance(10 * MINUTE)
  await house.quiet(5)
  expect(chat.messages.filter(({ kind }) => kind === 'agent')).toEqual([])
  model.script(say('All well.'))
  await chat.ask('homelab', 'anything new?')
  expect(newest(house)).toContain('It cooled down by itself.')
  await house.quiet(6)
})

test('idle server: it is stopped after a quarter of an hour', async () => {
  await using house = await openHouse()
  const { clock, model } = house
  model.script(
    call([['schedule_wake', { delay: '15m', reason: 'still empty?', wake_on_events: ['player_joined'] }]]),
  )
  await house.publish('server_empty', { server: 'atm-10', previousCount: 1 })
  await house.quiet(1)
  model.script(
    call([['get_player_count', { server: 'atm-10' }]]),
    call([['stop_game_server', { server: 'atm-10' }]]),
    call([['complete_task', { summary: 'stopped' }]]),
  )
  clock.advance(15 * MINUTE)
  await house.quiet(4)
  expect(house.calls()).toEqual([
    'get_player_count {"server":"atm-10"}',
    'stop_game_server {"server":"atm-10"}',
  ])
})

test('idle server: somebody joins, and it is left alone', async () => {
  await using house = await openHouse()
  const { clock, model } = house
  model.script(
    call([['schedule_wake', { delay: '15m', reason: 'still empty?', wake_on_events: ['player_joined'] }]]),
  )
  await house.publish('server_empty', { server: 'atm-10', previousCount: 1 })
  await house.quiet(1)
  clock.advance(5 * MINUTE)
  model.script(call([['complete_task', { summary: 'somebody plays' }]]))
  await house.publish('player_joined', { server: 'atm-10', playerCount: 1 })
  await house.quiet(2)
  clock.advance(60 * MINUTE)
  await house.quiet(2)
  expect(house.calls()).toEqual([])
})
