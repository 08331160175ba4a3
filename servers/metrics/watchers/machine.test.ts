import { expect, test } from 'vitest'
import { eventPayloads } from '../../../schemas/events.ts'
import { createEventLog } from '../../kit/events.ts'
import { readInstances } from '../../kit/instances.ts'
import { createFakeClock } from '../../kit/testing/fake-clock.ts'
import { startFaultyUpstream, status } from '../../kit/testing/faulty-upstream.ts'
import { runWatcher } from '../../kit/watch.ts'
import { nodeExporterSpec, readMetricsSettings } from '../config.ts'
import { openHistory } from '../history/history.ts'
import { createMeasure } from '../history/measure.ts'
import { openHosts } from '../hosts.ts'
import type { Machine } from '../machine/machine.ts'
import { createSampler } from '../machine/sampler.ts'
import { exporterText } from '../testing/exporter-text.ts'
import { createFakeMachine, fakeCounters, fakeDisk, GIB } from '../testing/fake-machine.ts'
import { createRemoteWatcher, createWatchers } from './machine.ts'

const MINUTE = 60_000

/** Starts the watchers on a machine; their events read "type key value". */
function start(
  machine: Partial<Machine>,
  environment: Record<string, string> = {},
  clock = createFakeClock(),
) {
  const fake = createFakeMachine({
    counters: async () => fakeCounters(clock.monotonic(), 0, clock.monotonic()),
    ...machine,
  })
  const log = createEventLog('metrics', 'stream', clock)
  const watchers = createWatchers({
    host: 'nas',
    machine: fake,
    sampler: createSampler(fake, clock),
    settings: readMetricsSettings(environment),
    emit: log.emit,
    clock,
  })
  const logged: unknown[] = []
  const stops = watchers.map(watcher => runWatcher(watcher, clock, (...entry) => logged.push(entry)))
  return {
    clock,
    logged,
    names: watchers.map(watcher => watcher.name),
    stop() {
      for (const stop of stops) stop()
    },
    events: () => log.read(0).events,
  }
}

test('a busy CPU is raised after two minutes, held, and raised again after it was quiet', async () => {
  let busy = 0
  let percent = 95
  let last = 0
  const clock = createFakeClock()
  const counters = async () => {
    busy += ((clock.monotonic() - last) * percent) / 100
    last = clock.monotonic()
    return fakeCounters(last, busy, last)
  }
  const { events, stop } = start({ counters }, {}, clock)
  await clock.advance(2 * MINUTE)
  expect(events()).toEqual([])
  await clock.advance(15_000)
  expect(events()).toMatchObject([
    { type: 'cpu_high', key: 'cpu_high:nas', payload: { host: 'nas', percent: 95, threshold: 90 } },
  ])
  await clock.advance(10 * MINUTE)
  percent = 87
  await clock.advance(MINUTE)
  percent = 95
  await clock.advance(10 * MINUTE)
  expect(events()).toHaveLength(1)
  percent = 10
  await clock.advance(MINUTE)
  percent = 100
  await clock.advance(3 * MINUTE)
  expect(events()).toHaveLength(2)
  for (const event of events()) eventPayloads.cpu_high.parse(event.payload)
  stop()
  expect(clock.pending).toBe(0)
})

test('memory that is full for two minutes is raised', async () => {
  const { clock, events, stop } = start({
    memory: async () => ({ totalBytes: 100 * GIB, availableBytes: 5 * GIB }),
  })
  await clock.advance(2 * MINUTE - 1)
  expect(events()).toEqual([])
  await clock.advance(1)
  expect(events()).toMatchObject([{ type: 'memory_high', key: 'memory_high:nas' }])
  expect(eventPayloads.memory_high.parse(events()[0]?.payload).percent).toBe(95)
  stop()
})

test('each disk is raised at once, for itself; a read-only one is not', async () => {
  let percent = 86
  const { clock, events, stop } = start({
    disks: async () => ({
      disks: [
        fakeDisk({ percent }),
        fakeDisk({ mount: '/srv', percent: 84 }),
        fakeDisk({ mount: '/old', percent: 99, readOnly: true }),
        fakeDisk({ mount: '/me\u001bdia', percent: 90 }),
      ],
      silent: ['/mnt/nas'],
    }),
  })
  await clock.advance(0)
  expect(events().map(({ key }) => key)).toEqual(['disk_high:nas:/', 'disk_high:nas:/me dia'])
  expect(eventPayloads.disk_high.parse(events()[0]?.payload)).toEqual({
    host: 'nas',
    mount: '/',
    percent: 86,
    threshold: 85,
    free: expect.any(Number),
  })
  percent = 79
  await clock.advance(15_000)
  percent = 86
  await clock.advance(15_000)
  expect(events().map(({ key }) => key)).toEqual([
    'disk_high:nas:/',
    'disk_high:nas:/me dia',
    'disk_high:nas:/',
  ])
  stop()
})

test('each sensor is raised for itself, and one that comes back is new', async () => {
  let sensors = ['coretemp Package id 0', 'nvme Composite']
  const { clock, events, stop } = start({
    temperatures: async () => sensors.map(sensor => ({ sensor, celsius: 80 })),
  })
  await clock.advance(MINUTE)
  expect(events().map(({ key }) => key)).toEqual([
    'temp_high:nas:coretemp Package id 0',
    'temp_high:nas:nvme Composite',
  ])
  expect(eventPayloads.temp_high.parse(events()[0]?.payload).temp).toBe(80)
  sensors = []
  await clock.advance(15_000)
  sensors = ['nvme Composite']
  await clock.advance(15_000)
  expect(events()).toHaveLength(3)
  stop()
})

test('one that cannot be read keeps none of the others from working', async () => {
  const { clock, events, logged, stop } = start({
    memory: () => Promise.reject(new Error('no /proc')),
    temperatures: async () => [{ sensor: 'cpu', celsius: 99 }],
  })
  await clock.advance(MINUTE)
  expect(events()).toHaveLength(1)
  expect(logged).toMatchObject([['warn', 'watcher failed, it goes on trying', { watcher: 'memory_high' }]])
  stop()
})

test('what is off is not watched, but the counters are', async () => {
  const off = {
    METRICS_CPU_PERCENT: 'off',
    METRICS_MEMORY_PERCENT: 'off',
    METRICS_DISK_PERCENT: 'off',
    METRICS_TEMP_CELSIUS: 'off',
  }
  const { names, clock, events, stop } = start({}, off)
  expect(names).toEqual(['counters'])
  await clock.advance(MINUTE)
  expect(events()).toEqual([])
  stop()
})

/** Starts a machine behind an exporter whose answers the test controls. */
async function startRemote() {
  const exporter = await startFaultyUpstream({ 'GET /metrics': status(200, exporterText()) })
  const clock = createFakeClock()
  const log = createEventLog('metrics', 'stream', clock)
  const local = createFakeMachine()
  const instances = readInstances(nodeExporterSpec, {
    NODE_EXPORTER_ATTIC_URL: exporter.url,
    NODE_EXPORTER_GONE_URL: exporter.url.replace('http:', 'https:'),
  })
  const hosts = openHosts(
    { name: 'nas', machine: local, sampler: createSampler(local, clock) },
    instances,
    clock,
  )
  const settings = readMetricsSettings({ METRICS_CPU_SUSTAIN: '0s', METRICS_MEMORY_SUSTAIN: '0s' })
  const history = openHistory(undefined, clock, () => undefined)
  const watchers = hosts.remote.map(host =>
    createRemoteWatcher({
      host: host.name,
      ...host,
      settings,
      emit: log.emit,
      clock,
      measure: createMeasure(host.name, host.machine, history),
    }),
  )
  return { exporter, clock, watchers, history, keys: () => log.read(0).events.map(({ key }) => key) }
}

test('the levels of another machine follow the same rules, from one look each', async () => {
  const { exporter, watchers, keys, clock, history } = await startRemote()
  await using _ = exporter
  const attic = watchers.find(({ name }) => name === 'host attic')
  const look = async (more: Parameters<typeof exporterText>[0]) => {
    exporter.route({ 'GET /metrics': status(200, exporterText(more)) })
    await clock.advance(15_000)
    await attic?.poll()
  }
  await look({})
  expect(keys()).toEqual([])
  expect(exporter.requests).toHaveLength(1)
  const hot = { idle: 701, user: 199, available: 1e9, celsius: 91, free: 10e9 }
  await look(hot)
  const raised = [
    'cpu_high:attic',
    'memory_high:attic',
    'disk_high:attic:/',
    'temp_high:attic:coretemp Package id 0',
  ]
  expect(keys().sort()).toEqual(raised.sort())
  await look({ ...hot, idle: 702, user: 298 })
  expect(keys()).toHaveLength(4)
  expect(exporter.requests).toHaveLength(3)
  expect(history.read('attic', 'hour').curves.map(({ kind }) => kind)).toEqual([
    'memory',
    'disk',
    'temperature',
  ])
})

test('a machine that is down keeps what was raised, and harms no other', async () => {
  const { exporter, watchers, keys } = await startRemote()
  await using _ = exporter
  const [attic, gone] = watchers
  exporter.route({ 'GET /metrics': status(200, exporterText({ celsius: 91 })) })
  await expect(gone?.poll()).rejects.toThrow('Node-exporter (gone)')
  await attic?.poll()
  exporter.will(status(404, 'gone'))
  await expect(attic?.poll()).rejects.toThrow('Node-exporter (attic)')
  exporter.will(undefined)
  await attic?.poll()
  expect(keys()).toEqual(['temp_high:attic:coretemp Package id 0'])
})
