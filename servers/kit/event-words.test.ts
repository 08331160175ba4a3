import { expect, test } from 'vitest'
import { type EventPayload, type EventType, eventPayloads } from '../../schemas/events.ts'
import { emitInWords } from './event-words.ts'

const PAYLOADS: { readonly [Type in EventType]: EventPayload<Type> } = {
  cpu_high: { host: 'nas', percent: 97.2, threshold: 90 },
  memory_high: { host: 'nas', percent: 97, threshold: 90 },
  disk_high: { host: 'nas', percent: 97, threshold: 85, mount: '/srv', free: 66_453_881_487 },
  temp_high: { host: 'nas', sensor: 'cpu', temp: 91, threshold: 80 },
  server_empty: { server: 'arena', previousCount: 1 },
  player_joined: { server: 'arena', playerCount: 1, names: ['Kim', 'Lee'] },
  player_left: { server: 'arena', playerCount: 0 },
  server_crash: { server: 'arena', exitCode: 137, oom: true, loop: true, count: 4 },
  download_complete: { client: 'sab', name: 'Sintel', size: 2 ** 30 },
  download_failed: { client: 'sab', name: 'Sintel', size: 2 ** 30, reason: 'no space' },
  disk_full_warning: { client: 'sab', free: 66_453_881_487, needed: 2 ** 37 },
  transcode_started: { user: 'kim', title: 'Sintel', device: 'TV', reason: 'the codec' },
  media_added: { title: 'Sintel', type: 'movie', library: 'Films' },
  container_unhealthy: { name: 'web', status: 'unhealthy', restarts: 2 },
}

function raise<Type extends EventType>(type: Type): Record<string, unknown> {
  const raised: Record<string, unknown>[] = []
  emitInWords((_type, payload) => raised.push(payload))(type, PAYLOADS[type], 'key')
  return raised[0] ?? {}
}

test.for([
  ['disk_full_warning', "The disk of 'sab' has 61.9 GiB free; its queue needs 128 GiB."],
  [
    'disk_high',
    "The disk at '/srv' of 'nas' is used to 97 %; from 85 % on that counts as high. 61.9 GiB are free.",
  ],
  ['temp_high', "The sensor 'cpu' of 'nas' is at 91 °C; from 80 °C on that counts as high."],
  ['player_joined', "'Kim', 'Lee' joined 'arena', where 1 player is now."],
  ['player_left', "Somebody left 'arena', where 0 players are now."],
  [
    'server_crash',
    "The game server 'arena' ended by itself with exit code 137, because its memory ran out. It crashes again and again: 4 times within ten minutes.",
  ],
] as const)('the figures of %s are told with their units', ([type, text]) => {
  expect(raise(type).text).toBe(text)
})

test.for(Object.keys(PAYLOADS) as EventType[])('%s keeps its payload, with a line of text', type => {
  const payload = raise(type)
  expect(payload).toMatchObject(PAYLOADS[type])
  expect(eventPayloads[type].parse(payload)).toEqual(payload)
  expect(payload.text).toMatch(/^\S.{10,200}\.$/)
})

test('only figures that are there have units', () => {
  expect(raise('disk_full_warning').units).toEqual({ free: 'bytes', needed: 'bytes' })
  expect(raise('transcode_started').units).toBeUndefined()
})
