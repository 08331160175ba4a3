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
 * Creates the watcher of a machine behind a node-exporter: one request serves all levels, so that an
 * unreachable machine is logged once, affects no other, and keeps its raised levels.
 */
export function createRemoteWatcher(deps: WatcherDeps & { machine: ScrapedMachine }): Watcher {
  const levels = createWatchers(deps)
  return {
    name: `host ${deps.host}`,
    every: deps.settings.interval,
    async poll() {
      await deps.machine.refresh()
      await Promise.all(levels.map(level => level.poll()))
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
  const { cpu, memory, disk, temperature } = settings
  return [
    cpu
      ? createLevelWatcher(
          { type: 'cpu_high', rule: cpu, every, read: () => readCpu(deps, cpu) },
          emit,
          clock,
        )
      : { name: 'counters', every, poll: async () => void (await deps.sampler.look()) },
    memory &&
      createLevelWatcher(
        { type: 'memory_high', rule: memory, every, read: () => readMemory(deps, memory) },
        emit,
        clock,
      ),
    disk &&
      createLevelWatcher(
        { type: 'disk_high', rule: disk, every, read: () => readDisks(deps, disk) },
        emit,
        clock,
      ),
    temperature &&
      createLevelWatcher(
        { type: 'temp_high', rule: temperature, every, read: () => readTemperatures(deps, temperature) },
        emit,
        clock,
      ),
  ].filter(watcher => watcher !== undefined)
}

/** Reads the use since the last sample; the first one has nothing to compare with. */
async function readCpu({ host, sampler }: WatcherDeps, rule: LevelRule): Promise<Reading<'cpu_high'>[]> {
  const { from, to } = await sampler.look()
  const percent = from && toCpuPercent(from, to)
  if (percent === undefined) return []
  const payload = { host, percent: toTenth(percent), threshold: rule.threshold }
  return [{ key: `cpu_high:${host}`, value: percent, payload }]
}

async function readMemory(
  { host, machine }: WatcherDeps,
  rule: LevelRule,
): Promise<Reading<'memory_high'>[]> {
  const percent = toMemoryPercent(await machine.memory())
  const payload = { host, percent: toTenth(percent), threshold: rule.threshold }
  return [{ key: `memory_high:${host}`, value: percent, payload }]
}

/** Reads the disks, except read-only ones: they cannot fill up. */
async function readDisks({ host, machine }: WatcherDeps, rule: LevelRule): Promise<Reading<'disk_high'>[]> {
  const { disks } = await machine.disks()
  return disks
    .filter(disk => !disk.readOnly)
    .map(({ mount, percent, freeBytes }) => {
      const name = cleanText(mount)
      const payload = {
        host,
        mount: name,
        percent: toTenth(percent),
        threshold: rule.threshold,
        free: freeBytes,
      }
      return { key: `disk_high:${host}:${name}`, value: percent, payload }
    })
}

async function readTemperatures(
  { host, machine }: WatcherDeps,
  rule: LevelRule,
): Promise<Reading<'temp_high'>[]> {
  const temperatures = await machine.temperatures()
  return temperatures.map(({ sensor, celsius }) => {
    const name = cleanText(sensor)
    const payload = { host, sensor: name, temp: toTenth(celsius), threshold: rule.threshold }
    return { key: `temp_high:${host}:${name}`, value: celsius, payload }
  })
}
