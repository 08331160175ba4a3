import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../kit/clock.ts'
import { FAULTS, type FaultyUpstream, startFaultyUpstream } from '../kit/testing/faulty-upstream.ts'
import { startWorld } from '../kit/testing/server-world.ts'
import { metrics } from './server.ts'

/** A clock without pauses between tries. */
const hasty: Clock = {
  ...systemClock,
  after: (delay, run) => systemClock.after(delay < 5000 ? 0 : delay, run),
}
/** A clock whose limits pass soon. */
const impatient: Clock = { ...systemClock, after: (delay, run) => systemClock.after(delay / 100, run) }

let upstream: FaultyUpstream
beforeEach(async () => {
  upstream = await startFaultyUpstream()
})
afterEach(() => upstream[Symbol.asyncDispose]())

const open = (variable: string, clock = hasty) =>
  startWorld(metrics, {
    clock,
    watchers: false,
    environment: {
      ENGINE_URL: 'unix:///nowhere/docker.sock',
      [`${variable}_URL`]: upstream.url,
      [`${variable}_TOKEN`]: 'a-secret-token',
    },
  })

const silence = { alert: 'Down', duration: '1h', comment: 'a test' }
const CALLS = [
  ['query_prometheus', { query: 'up' }, 'PROMETHEUS'],
  ['query_prometheus', { query: 'up', range: '1h' }, 'PROMETHEUS'],
  ['get_alerts', {}, 'PROMETHEUS'],
  ['get_alerts', {}, 'ALERTMANAGER'],
  ['silence_alert', silence, 'ALERTMANAGER'],
  ['expire_silence', { silence: 'x' }, 'ALERTMANAGER'],
  ['get_system_metrics', { host: 'attic' }, 'NODE_EXPORTER_ATTIC'],
] as const

const WORDS: Readonly<Record<string, RegExp>> = {
  'wrong key': /did not accept the key[\s\S]*_TOKEN/,
  forbidden: /does not allow this/,
  'status 500': /failed inside[\s\S]*answered 500/,
  slow: /did not answer within|took too long/,
  reset: /could not be reached/,
  garbage: /did not answer with JSON|did not answer as the node-exporter/,
  html: /web page|did not answer as the node-exporter/,
  redirect: /sends elsewhere[\s\S]*elsewhere\.example/,
  huge: /more than can be taken/,
  'another shape': /in a form that is not known|did not answer with JSON|did not answer as the node-exporter/,
}

describe.each(CALLS)('%s with %j', (tool, args, variable) => {
  test.each(Object.keys(FAULTS))('says what is wrong: %s', async fault => {
    await using world = await open(variable, fault === 'slow' ? impatient : hasty)
    upstream.will(FAULTS[fault])
    const { isError, text } = await world.call(tool, args)
    expect(isError).toBe(true)
    expect(text).toMatch(WORDS[fault] ?? /no words for this fault/)
    expect(text).not.toContain('a-secret-token')
    expect(text).toMatch(/^What to do: ./m)
  })

  test('says what is wrong: down', async () => {
    await using world = await open(variable)
    await upstream[Symbol.asyncDispose]()
    const { isError, text } = await world.call(tool, args)
    expect(isError).toBe(true)
    expect(text).toContain(`could not be reached at ${upstream.url}`)
    expect(text).toContain('nothing listens')
  })
})

test.each([
  ['query_prometheus', { query: 'up' }, 'PROMETHEUS_URL'],
  ['get_alerts', {}, 'ALERTMANAGER_URL'],
  ['silence_alert', silence, 'ALERTMANAGER_URL'],
  ['expire_silence', { silence: 'x' }, 'ALERTMANAGER_URL'],
  ['get_system_metrics', { host: 'attic' }, 'NODE_EXPORTER_<NAME>_URL'],
])('%s says which setting it lacks', async (tool, args, setting) => {
  await using world = await startWorld(metrics, { clock: hasty, watchers: false })
  const { isError, text } = await world.call(tool, args)
  expect(isError).toBe(true)
  expect(text).toContain(setting)
})

test('wrong settings of an upstream are told by what asks it, without secrets; the others go on', async () => {
  const environment = {
    PROMETHEUS_URL: 'ftp://user:secret@nas',
    ALERTMANAGER_URL: upstream.url,
    NODE_EXPORTER_URL: 'nas:port',
  }
  await using world = await startWorld(metrics, { clock: hasty, watchers: false, environment })
  const { isError, text } = await world.call('query_prometheus', { query: 'up' })
  expect(isError).toBe(true)
  expect(text).toMatch(/Prometheus cannot be used: its settings are wrong\..*Why: PROMETHEUS_URL/s)
  expect(text).not.toContain('secret')
  expect((await world.call('get_system_metrics')).isError).toBe(false)
  const health = await world.health()
  expect(health?.upstreams.filter(({ ok }) => !ok).map(({ address }) => address)).toEqual(
    expect.arrayContaining(['PROMETHEUS_URL', 'NODE_EXPORTER_URL']),
  )
})

test('a mistyped variable of a program that is not set up at all is refused', async () => {
  const environment = { NODE_EXPORTER_ATTIC_UR: 'http://attic' }
  await expect(startWorld(metrics, { clock: hasty, environment })).rejects.toThrow(
    /NODE_EXPORTER_ATTIC_UR is not a setting/,
  )
})

test('a login is sent as the settings say', async () => {
  const environment = {
    PROMETHEUS_URL: upstream.url,
    PROMETHEUS_USERNAME: 'ann',
    PROMETHEUS_PASSWORD: 'pass word',
    ALERTMANAGER_URL: `${upstream.url}/am`,
    ALERTMANAGER_TOKEN: 'abc',
  }
  await using world = await startWorld(metrics, { clock: hasty, watchers: false, environment })
  await world.call('get_alerts')
  const sent = new Map(upstream.requests.map(({ path, headers }) => [path, headers.authorization]))
  expect(sent.get('/api/v1/alerts')).toBe(`Basic ${Buffer.from('ann:pass word').toString('base64')}`)
  expect(sent.get('/am/api/v2/alerts')).toBe('Bearer abc')
})
