import type { EventType } from '../../../schemas/events.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Emit } from '../../kit/events.ts'
import type { LevelRule } from '../../kit/levels.ts'
import { createLevelWatcher, type Reading } from '../../kit/levels.ts'
import type { Watcher } from '../../kit/server.ts'
import { cleanText, toTenth } from '../../kit/text.ts'
import type { MetricsSettings } from '../config.ts'
import type { Machine } from '../machine/machine.ts'
import { type Sampler, toCpuPercent, toMemoryPercent } from '../machine/sampler.ts'
import type { ScrapedMachine } from '../upstreams/node-exporter/node-exporter.ts'

export interface WatcherDeps {
  host: string
  machine: Machine
  sampler: Sampler
  settings: MetricsSettings
  emit: Emit
  clock: Clock
}

/**
 * Creates the watcher of a machine behind a node-exporter: one request serves all levels and the history, so that an
 * unreachable machine is logged once, affects no other, and keeps its raised levels.
 */
export function createRemoteWatcher(
  deps: WatcherDeps & { machine: ScrapedMachine; measure: () => Promise<void> },
): Watcher {
  const levels = createWatchers(deps)
  return {
    name: `host ${deps.host}`,
    every: deps.settings.interval,
    async poll() {
      await deps.machine.refresh()
      await Promise.all([...levels.map(level => level.poll()), deps.measure()])
    },
  }
}

/**
 * Creates the watchers that the settings leave on. The counters are always sampled: the tools' rates start at
 * the last sample.
 */
export function createWatchers(deps: WatcherDeps): Watcher[] {
  const { settings, emit, clock } = deps
  const every = settings.interval
  const watch = <Type extends EventType>(
    type: Type,
    rule: LevelRule | undefined,
    read: (deps: WatcherDeps, threshold: number) => Promise<readonly Reading<Type>[]>,
  ): Watcher[] =>
    rule
      ? [createLevelWatcher({ type, rule, every, read: () => read(deps, rule.threshold) }, emit, clock)]
      : []
  const sample = { name: 'counters', every, poll: async () => void (await deps.sampler.sample()) }
  return [
    ...(settings.cpu ? watch('cpu_high', settings.cpu, readCpu) : [sample]),
    ...watch('memory_high', settings.memory, readMemory),
    ...watch('disk_high', settings.disk, readDisks),
    ...watch('temp_high', settings.temperature, readTemperatures),
  ]
}

/** Reads the use since the last sample; the first one has nothing to compare with. */
async function readCpu({ host, sampler }: WatcherDeps, threshold: number): Promise<Reading<'cpu_high'>[]> {
  const { from, to } = await sampler.sample()
  const percent = from && toCpuPercent(from, to)
  if (percent === undefined) return []
  const payload = { host, percent: toTenth(percent), threshold }
  return [{ key: `cpu_high:${host}`, value: percent, payload }]
}

async function readMemory(
  { host, machine }: WatcherDeps,
  threshold: number,
): Promise<Reading<'memory_high'>[]> {
  const percent = toMemoryPercent(await machine.memory())
  return [
    { key: `memory_high:${host}`, value: percent, payload: { host, percent: toTenth(percent), threshold } },
  ]
}

/** Reads the disks, except read-only ones: they cannot fill up. */
async function readDisks({ host, machine }: WatcherDeps, threshold: number): Promise<Reading<'disk_high'>[]> {
  const { disks } = await machine.disks()
  return disks
    .filter(disk => !disk.readOnly)
    .map(({ mount: path, percent, freeBytes: free }) => {
      const mount = cleanText(path)
      const payload = { host, mount, percent: toTenth(percent), threshold, free }
      return { key: `disk_high:${host}:${mount}`, value: percent, payload }
    })
}

async function readTemperatures(
  { host, machine }: WatcherDeps,
  threshold: number,
): Promise<Reading<'temp_high'>[]> {
  const temperatures = await machine.temperatures()
  return temperatures.map(({ sensor: name, celsius }) => {
    const sensor = cleanText(name)
    const payload = { host, sensor, temp: toTenth(celsius), threshold }
    return { key: `temp_high:${host}:${sensor}`, value: celsius, payload }
  })
}
