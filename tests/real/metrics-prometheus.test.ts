import { afterAll, beforeAll, expect, test } from 'vitest'
import { USUAL } from '../../hub/web/components/house/query-chart.ts'
import { systemClock } from '../../servers/kit/clock.ts'
import { type ServerWorld, startWorld } from '../../servers/kit/testing/server-world.ts'
import { metrics } from '../../servers/metrics/server.ts'
import { until } from '../support/until.ts'
import { type PrometheusLab, startPrometheusLab } from './setup/prometheus.ts'

/** Debian's Prometheus, Alertmanager and node-exporter, each a program of its own. */
let lab: PrometheusLab
let world: ServerWorld
/** An address without an engine, so that the machine's own engine is not read. */
const NO_ENGINE = { ENGINE_URL: 'unix:///nowhere/docker.sock' }

beforeAll(async () => {
  lab = await startPrometheusLab()
  const environment = {
    ...NO_ENGINE,
    PROMETHEUS_URL: lab.prometheus,
    ALERTMANAGER_URL: lab.alertmanager,
    NODE_EXPORTER_NAS_URL: lab.nodeExporter,
    NODE_EXPORTER_ATTIC_URL: 'http://127.0.0.1:1',
    METRICS_INTERVAL: '200ms',
    METRICS_MEMORY_PERCENT: '1',
    METRICS_MEMORY_SUSTAIN: '0s',
  }
  world = await startWorld(metrics, { clock: systemClock, environment })
})
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
  await lab?.[Symbol.asyncDispose]()
})

/** Repeats the tool's call until its result fits, and resolves with it. */
const eventually = (name: string, args: Record<string, unknown>, fits: (text: string) => boolean) =>
  until(`${name} tells it`, async () => {
    const called = await world.call(name, args)
    return fits(called.text) ? called : undefined
  })

test('another machine is told by its node-exporter as this one tells of itself', async () => {
  const remote = await world.call('get_system_metrics', { host: 'nas' })
  const local = await world.call('get_system_metrics')
  expect(remote).toMatchObject({ isError: false, data: { host: 'nas' } })
  const figures = ({ data }: typeof remote) =>
    data as { cpu: { cores: number }; memory: { totalBytes: number } }
  expect(figures(remote).cpu.cores).toBe(figures(local).cpu.cores)
  expect(figures(remote).memory.totalBytes).toBe(figures(local).memory.totalBytes)
  expect(remote.data['kernel']).toBe(local.data['kernel'])
  expect(remote.data['arch']).toBe(local.data['arch'])
  expect(remote.data['os']).toBe(local.data['os'])
  expect(local.text).toContain('Other hosts that can be asked for: attic, nas.')
})

test('a level of another machine is raised; a machine that is down is told once and harms no other', async () => {
  const events = await until('both are raised', () => {
    const raised = world.events().filter(({ type }) => type === 'memory_high')
    return raised.length >= 2 && raised
  })
  expect(events.map(({ key }) => key)).toContain('memory_high:nas')
  const told = world.logged.filter(
    ({ level, fields }) => level === 'warn' && fields['watcher'] === 'host attic',
  )
  expect(told).toHaveLength(1)
  const { isError, text } = await world.call('get_system_metrics', { host: 'attic' })
  expect(isError).toBe(true)
  expect(text).toContain('Node-exporter (attic) could not be reached at http://127.0.0.1:1')
})

test.each(USUAL)(
  'the usual chart "$title" of the page has a line for each node-exporter',
  async ({ query }) => {
    const chart = { query, range: '1m', step: '1s', plot: false }
    const { data } = await eventually('query_prometheus', chart, text => text.startsWith('1 series'))
    expect(data['series']).toMatchObject([
      { labels: { instance: expect.any(String) }, most: expect.any(Number) },
    ])
  },
)

test('a moment, a range with a plot, and what Prometheus says of a wrong query', async () => {
  const now = await eventually('query_prometheus', { query: 'up' }, text => text.includes(': 1'))
  expect(now.text).toMatch(/^1 series at .* UTC:\n- "up.*job='node'.*": 1$/m)
  expect(now).toMatchObject({
    untrusted: true,
    images: [],
    data: { kind: 'instant', series: [{ value: 1 }] },
  })

  const range = await world.call('query_prometheus', { query: 'node_load1', range: '1m', step: '1s' })
  expect(range.data).toMatchObject({ kind: 'range', stepSeconds: 1, series: [{ course: expect.any(Array) }] })
  expect(
    Buffer.from(range.images[0]?.data ?? '', 'base64')
      .subarray(1, 4)
      .toString(),
  ).toBe('PNG')

  const special = await world.call('query_prometheus', {
    query: 'vector(0) / 0 or vector(1) / 0 * (up > -1)',
  })
  expect(special).toMatchObject({ data: { series: [{ valueText: 'not a number' }] } })
  const scalar = await world.call('query_prometheus', { query: '1 / 0' })
  expect(scalar).toMatchObject({ data: { series: [{ valueText: 'infinite' }] } })
  const text = await world.call('query_prometheus', { query: '"hello"' })
  expect(text.text).toContain('It is the text "hello".')
  const many = await world.call('query_prometheus', { query: '{__name__=~"node_.+"}', limit: 3 })
  expect(many.text).toMatch(/3 of \d+ series; call again with offset 3 for more\./)

  const wrong = await world.call('query_prometheus', { query: 'sum(' })
  expect(wrong.isError).toBe(true)
  expect(wrong.text).toMatch(/Prometheus refused this\.[\s\S]*parse error/)
  const costly = await world.call('query_prometheus', { query: 'up', range: '7d', step: '1s' })
  expect(costly.text).toContain('more than 2000 points')
})

test('a target that is down is an alert, which can be silenced and told again', async () => {
  const quiet = await eventually('get_alerts', {}, text => text.includes('about to fire'))
  expect(quiet.text).toMatch(/^No alerts fire, 1 is about to fire\.\n- "Slow" pending, "info", began/)
  await lab.stopNodeExporter()
  const fires = await eventually('get_alerts', { state: 'firing' }, text => text.includes('TargetDown'))
  expect(fires.data).toMatchObject({
    alerts: [{ name: 'TargetDown', severity: 'critical', summary: 'node is down', labels: { job: 'node' } }],
    counts: { firing: 1 },
  })
  const known = () => eventually('get_alerts', { name: 'target' }, text => text.includes('TargetDown'))
  await until('Alertmanager has it', async () => (await known()).text.includes('TargetDown') && inManager())

  const silenced = await world.call('silence_alert', {
    alert: 'TargetDown',
    labels: { job: 'node' },
    duration: '1h',
    comment: 'the machine is being cleaned',
  })
  expect(silenced).toMatchObject({ isError: false, data: { done: true, matches: [expect.any(String)] } })
  const shown = await eventually('get_alerts', { state: 'silenced' }, text => text.includes('silenced until'))
  expect(shown.text).toMatch(/"the machine is being cleaned"/)
  expect(shown.data).toMatchObject({ counts: { firing: 0, silenced: 1 } })

  const silence = silenced.data['silence']
  expect(await world.call('expire_silence', { silence })).toMatchObject({ data: { changed: true } })
  expect(await world.call('expire_silence', { silence })).toMatchObject({ data: { changed: false } })
  await eventually('get_alerts', { state: 'firing' }, text => text.includes('TargetDown'))
  const unknown = await world.call('expire_silence', { silence: 'none' })
  expect(unknown.text).toContain('has no silence "none"')
  const none = await world.call('silence_alert', { alert: 'Nothing', duration: '5m', comment: 'for a test' })
  expect(none).toMatchObject({ data: { done: false, matches: [] } })
  expect(none.text).toContain('Nothing was done. It would silence "Nothing" for 5 min')

  await lab.startNodeExporter()
  await eventually('get_alerts', { state: 'firing' }, text => text.startsWith('No alerts fire'))
})

async function inManager(): Promise<boolean> {
  const alerts = (await (await fetch(`${lab.alertmanager}/api/v2/alerts`)).json()) as unknown[]
  return alerts.length > 0
}

test('their versions are told', async () => {
  const { upstreams } = (await world.health()) ?? { upstreams: [] }
  expect(upstreams).toMatchObject([
    { name: 'prometheus', ok: true, version: expect.stringMatching(/^2\./) },
    { name: 'alertmanager', ok: true, version: expect.stringMatching(/^0\./) },
    { name: 'engine', ok: false },
    { name: 'attic', ok: false },
    { name: 'nas', ok: true, version: expect.stringMatching(/^1\./) },
  ])
})
