import { expect, test } from 'vitest'
import { startProcessorClock } from '../../../tests/support/processor-clock.ts'
import { mapHook } from './map-hook.ts'

const map = (name: string, fields: Record<string, unknown>) =>
  mapHook(name, fields, Buffer.from(JSON.stringify(fields)))

const alert = (over: object = {}) => ({
  status: 'firing',
  labels: { alertname: 'InstanceDown', instance: 'nas:9100' },
  annotations: { summary: 'nas is down' },
  startsAt: '2026-11-22T05:00:00Z',
  endsAt: '0001-01-01T00:00:00Z',
  generatorURL: 'http://prometheus/graph',
  fingerprint: 'c0ffee',
  ...over,
})
const group = (...alerts: object[]) => ({
  receiver: 'superbloom',
  status: 'firing',
  alerts,
  groupLabels: { alertname: 'InstanceDown' },
  version: '4',
  groupKey: '{}:{alertname="InstanceDown"}',
  truncatedAlerts: 0,
})

test('alertmanager: each alert of a group is an event of its own, as if it had come alone', () => {
  const other = alert({ fingerprint: 'beef', status: 'resolved', extra: 1 })
  const [first, second] = map('alertmanager', group(alert(), other))
  expect(first).toMatchObject({ key: 'c0ffee:firing', payload: group(alert()) })
  expect(second).toMatchObject({
    key: 'beef:resolved',
    payload: { ...group(other), status: 'resolved', receiver: 'superbloom' },
  })
})

test('alertmanager: the state is status and start; the subject is the fingerprint, or else the labels', () => {
  const one = (over: object = {}) => map('alertmanager', group(alert(over)))[0]
  expect(one({ annotations: { summary: 'other words' } })).toMatchObject({
    subject: one()?.subject,
    state: one()?.state,
  })
  for (const over of [{ status: 'resolved' }, { startsAt: '2026-11-22T06:00:00Z' }]) {
    expect(one(over)?.subject).toBe(one()?.subject)
    expect(one(over)?.state).not.toBe(one()?.state)
  }
  expect(one({ fingerprint: 'beef' })?.subject).not.toBe(one()?.subject)
  const without = one({ fingerprint: undefined })
  expect(without?.key).toMatch(/^[0-9a-f]{16}:firing$/)
  expect(one({ fingerprint: undefined, labels: { alertname: 'Other' } })?.subject).not.toBe(without?.subject)
})

const keys: [string, Record<string, unknown>, string][] = [
  ['radarr', { eventType: 'Grab', movie: { id: 12, title: 'Dune' } }, 'Grab:12'],
  [
    'radarr',
    { eventType: 'Health', level: 'warning', type: 'IndexerStatusCheck' },
    'Health:IndexerStatusCheck',
  ],
  ['radarr', { eventType: 'ApplicationUpdate' }, 'ApplicationUpdate'],
  [
    'sonarr',
    { eventType: 'Download', series: { id: 3 }, episodes: [{ id: 7 }, { id: 8 }] },
    'Download:3,7,8',
  ],
  ['jellyfin', { NotificationType: 'PlaybackStart', ItemId: 'abc' }, 'PlaybackStart:abc'],
  ['jellyfin', { NotificationType: 'PendingRestart' }, 'PendingRestart'],
  ['door', { b: 1, a: 2 }, '{"a":2,"b":1}'],
]

test.for(keys)('%s %j has the key %s, and its payload as it came', ([name, fields, key]) => {
  expect(map(name, fields)).toMatchObject([{ key, payload: fields }])
})

test.for(['alertmanager', 'radarr', 'sonarr', 'jellyfin'])(
  '%s: a body that is not what it usually sends is taken like that of any other hook',
  name => {
    expect(map(name, { alerts: 'none', eventType: 5, NotificationType: null })).toMatchObject([
      { key: '{"NotificationType":null,"alerts":"none","eventType":5}' },
    ])
    expect(map(name, { alerts: [] })).toHaveLength(1)
  },
)

test('a long key is a digest', () => {
  expect(map('door', { text: 'x'.repeat(600) })[0]?.key).toMatch(/^sha256:[0-9a-f]{64}$/)
})

test('names of what every object has are no known hooks', () => {
  expect(map('constructor', { a: 1 })).toMatchObject([{ payload: { a: 1 } }])
})

test('a delivery of many alerts takes a moment: the first 500 are events, and say how many more there are', () => {
  const alerts = Array.from({ length: 5000 }, (_, index) => ({
    status: 'firing',
    labels: { index: `${index}` },
  }))
  const spent = startProcessorClock()
  const events = mapHook(
    'alertmanager',
    { receiver: 'hub', note: 'x\u0007'.repeat(250_000), alerts },
    Buffer.from('{}'),
  )
  expect(spent()).toBeLessThan(5000)
  expect(events).toHaveLength(500)
  expect(events[0]?.payload).toMatchObject({ receiver: 'hub', truncatedAlerts: 4500, alerts: [alerts[0]] })
})
