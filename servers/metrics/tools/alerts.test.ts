import { afterEach, beforeEach, expect, test } from 'vitest'
import { toIsoTime } from '../../kit/clock.ts'
import { createFakeClock } from '../../kit/testing/fake-clock.ts'
import { type FaultyUpstream, ok, startFaultyUpstream, status } from '../../kit/testing/faulty-upstream.ts'
import { startWorld } from '../../kit/testing/server-world.ts'
import { metrics } from '../server.ts'

const NOON = Date.UTC(2026, 10, 22, 12)
const HOUR = 3_600_000
const ago = (milliseconds: number) => toIsoTime(NOON - milliseconds)

let prometheus: FaultyUpstream
let manager: FaultyUpstream
beforeEach(async () => {
  prometheus = await startFaultyUpstream()
  manager = await startFaultyUpstream({
    'GET /api/v2/silences': ok([silence('s1', 'active'), silence('s2', 'expired')]),
  })
})
afterEach(async () => {
  await prometheus[Symbol.asyncDispose]()
  await manager[Symbol.asyncDispose]()
})

const start = (more = {}) =>
  startWorld(metrics, {
    clock: createFakeClock(NOON),
    watchers: false,
    environment: {
      ENGINE_URL: 'unix:///nowhere/docker.sock',
      PROMETHEUS_URL: prometheus.url,
      ALERTMANAGER_URL: manager.url,
      ...more,
    },
  })

test.each(['9'.repeat(200), `${'9'.repeat(200)}h`, '-1h', 'h'])(
  'a duration of %s is refused in words',
  async duration => {
    await using world = await start()
    const called = await world.call('silence_alert', { alert: 'Down', duration, comment: 'cleaning' })
    expect(called.isError).toBe(true)
    expect(called.text).toContain('The arguments of silence_alert do not fit')
    expect(manager.requests).toEqual([])
  },
)

const silence = (id: string, state: string) => ({
  id,
  status: { state },
  matchers: [{ name: 'alertname', value: 'Noise', isRegex: false, isEqual: true }],
  startsAt: ago(HOUR),
  endsAt: ago(-HOUR),
  updatedAt: ago(HOUR),
  createdBy: 'ann',
  comment: 'known\u0007problem',
})

const managed = (
  alertname: string,
  more: { silencedBy?: string[]; inhibitedBy?: string[] } = {},
  labels = {},
) => ({
  labels: { alertname, severity: 'critical', site: 'home', ...labels },
  annotations: { summary: `${alertname} "happens"` },
  startsAt: ago(5 * 60_000),
  endsAt: ago(-60_000),
  fingerprint: '0123456789abcdef',
  receivers: [{ name: 'x' }],
  status: { state: 'active', silencedBy: [], inhibitedBy: [], ...more },
})

const own = (alertname: string, state: string) => ({
  labels: { alertname, severity: 'critical' },
  annotations: {},
  state,
  activeAt: ago(HOUR),
  value: '1e+00',
})

function tell(managedAlerts: unknown[], ownAlerts: unknown[]) {
  manager.route({ 'GET /api/v2/alerts': ok(managedAlerts) })
  prometheus.route({ 'GET /api/v1/alerts': ok({ status: 'success', data: { alerts: ownAlerts } }) })
}

test('alerts of both are told once each, the urgent ones first', async () => {
  tell(
    [managed('Noise', { silencedBy: ['s1'] }), managed('Down'), managed('Child', { inhibitedBy: ['x'] })],
    [own('Down', 'firing'), own('Soon', 'pending'), own('Quiet', 'inactive'), own('Alone', 'firing')],
  )
  await using world = await start()
  const { data, text, untrusted } = await world.call('get_alerts')
  expect(
    (data['alerts'] as { name: string; state: string }[]).map(({ name, state }) => `${name} ${state}`),
  ).toEqual(['Alone firing', 'Down firing', 'Soon pending', 'Noise silenced', 'Child inhibited'])
  expect(untrusted).toBe(true)
  expect(text.split('\n').slice(0, 5)).toEqual([
    '2 alerts fire, 1 is about to fire, 1 is silenced, for 1 another alert stands.',
    '- "Alone" firing, "critical", began 1 h 0 min ago',
    `- "Down" firing, "critical", began 5 min ago: "Down 'happens'" ("site=home")`,
    '- "Soon" pending, "critical", began 1 h 0 min ago',
    `- "Noise" silenced, "critical", began 5 min ago: "Noise 'happens'" ("site=home"); silenced until 22 Nov 2026 13:00 UTC by "ann", "known problem", silence "s1"`,
  ])
  const firing = await world.call('get_alerts', { state: 'firing', name: 'dow' })
  expect(firing.data).toMatchObject({ total: 1, alerts: [{ name: 'Down' }] })
  expect((await world.call('get_alerts', { limit: 1 })).text).toContain(
    '1 of 5 alerts; call again with offset 1',
  )
})

test('without alerts it says so, and one that is down does not hide the other', async () => {
  tell([], [])
  await using world = await start()
  expect(await world.call('get_alerts')).toMatchObject({ text: 'No alerts fire.', untrusted: false })
  manager.will(status(401, 'no'))
  tell([], [own('Alone', 'firing')])
  const { isError, text, data } = await world.call('get_alerts')
  expect(isError).toBe(false)
  expect(text).toMatch(/^1 alert fires\.[\s\S]*Not asked: alertmanager\. Alertmanager did not accept the key/)
  expect(data).toMatchObject({ failed: [{ source: 'alertmanager' }] })
})

test('one alert is silenced at once, with what Alertmanager needs', async () => {
  tell([managed('Down', {}, { instance: 'nas' }), managed('Down', {}, { instance: 'pi' })], [])
  manager.route({ 'POST /api/v2/silences': ok({ silenceID: 'new' }) })
  await using world = await start()
  const args = { alert: 'Down', duration: '2h', comment: 'cleaning' }
  const done = await world.call('silence_alert', { ...args, labels: { instance: 'nas' } })
  expect(done.data).toMatchObject({ done: true, silence: 'new', until: NOON + 2 * HOUR })
  expect(done.text).toContain(
    '"Down" is silenced until 22 Nov 2026 14:00 UTC in Alertmanager, which fits 1 alert of now.',
  )
  const sent = manager.requests.find(({ method }) => method === 'POST')
  expect(JSON.parse(sent?.body ?? '')).toEqual({
    matchers: [
      { name: 'instance', value: 'nas', isRegex: false, isEqual: true },
      { name: 'alertname', value: 'Down', isRegex: false, isEqual: true },
    ],
    startsAt: '2026-11-22T12:00:00.000Z',
    endsAt: '2026-11-22T14:00:00.000Z',
    createdBy: 'superbloom',
    comment: 'cleaning',
  })

  const several = await world.call('silence_alert', args)
  expect(several.data).toMatchObject({
    done: false,
    matches: [expect.stringContaining('instance=nas'), expect.any(String)],
  })
  expect(several.text).toMatch(
    /^Nothing was done\. It would silence "Down" for 2 h 0 min, which fits 2 alerts of now/,
  )
  expect((await world.call('silence_alert', { ...args, confirm: true })).data).toMatchObject({ done: true })
  expect(manager.requests.filter(({ method }) => method === 'POST')).toHaveLength(2)
})

test.each([
  { duration: '31d' },
  { duration: '0s' },
  { duration: 'long' },
  { comment: ' ' },
  { labels: { 'a b': 'c' } },
])('a silence with %j is refused', async more => {
  await using world = await start()
  const args = { alert: 'Down', duration: '2h', comment: 'cleaning', ...more }
  expect((await world.call('silence_alert', args)).isError).toBe(true)
  expect(manager.requests).toEqual([])
})

test('a silence is ended once; one that is over or unknown is said to be', async () => {
  manager.route({ 'DELETE /api/v2/silence/s1': status(200) })
  await using world = await start()
  const ended = await world.call('expire_silence', { silence: 's1' })
  expect(ended.data).toMatchObject({ changed: true })
  expect(ended.text).toContain('The silence of "alertname=Noise" ("known problem") is over')
  expect((await world.call('expire_silence', { silence: 's2' })).data).toMatchObject({ changed: false })
  const unknown = await world.call('expire_silence', { silence: 's3' })
  expect(unknown).toMatchObject({
    isError: true,
    text: expect.stringContaining('there is "s1" ("known problem")'),
  })
  expect(manager.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1)
})

test('what may only be looked at is not changed', async () => {
  tell([managed('Down')], [])
  await using world = await start({ ALERTMANAGER_ACCESS: 'read' })
  for (const [tool, args] of [
    ['silence_alert', { alert: 'Down', duration: '1h', comment: 'cleaning' }],
    ['expire_silence', { silence: 's1' }],
  ] as const) {
    const { isError, text } = await world.call(tool, args)
    expect(isError).toBe(true)
    expect(text).toContain('ALERTMANAGER_ACCESS is "read"')
  }
  expect(manager.requests.every(({ method }) => method === 'GET')).toBe(true)
  await using quiet = await start({ METRICS_READ_ONLY: 'true' })
  const names = quiet.listed().map(({ name }) => name)
  expect(names).toContain('get_alerts')
  expect(names.filter(name => /silence|restart/.test(name))).toEqual([])
})
