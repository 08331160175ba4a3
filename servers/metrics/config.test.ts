import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { eventPayloads } from '../../schemas/events.ts'
import { SettingsError } from '../kit/env.ts'
import {
  alertmanagerSpec,
  nodeExporterSpec,
  prometheusSpec,
  readMetricsSettings,
  settingsTable,
} from './config.ts'
import { createFixtureHost } from './machine/fixture-host.ts'
import { metrics } from './server.ts'

const README = readFileSync(new URL('./README.md', import.meta.url), 'utf8')

test('the defaults are those of the contract', () => {
  const minutes = 60_000
  expect(readMetricsSettings({})).toEqual({
    interval: 15_000,
    cpu: { threshold: 90, sustain: 2 * minutes, clearBelow: 85 },
    memory: { threshold: 90, sustain: 2 * minutes, clearBelow: 85 },
    disk: { threshold: 85, sustain: 0, clearBelow: 80 },
    temperature: { threshold: 80, sustain: 0, clearBelow: 75 },
    hostRoot: undefined,
    hostName: undefined,
    history: { file: undefined },
  })
})

test('the history is kept in the data folder, elsewhere, or not at all', () => {
  const SUPERBLOOM_DATA = '/srv/data'
  const fileOf = (environment: Record<string, string>) => readMetricsSettings(environment).history
  expect(fileOf({ SUPERBLOOM_DATA })).toEqual({ file: '/srv/data/metrics-history.json' })
  expect(fileOf({ SUPERBLOOM_DATA, METRICS_HISTORY: '/m/h.json' })).toEqual({ file: '/m/h.json' })
  expect(fileOf({ SUPERBLOOM_DATA, METRICS_HISTORY: 'off' })).toBe(undefined)
})

test('a level can be set, and switched off', () => {
  const settings = readMetricsSettings({
    METRICS_CPU_PERCENT: 'off',
    METRICS_DISK_PERCENT: '95',
    METRICS_DISK_SUSTAIN: '1h',
    METRICS_CLEAR_POINTS: '0',
    METRICS_HOST_NAME: 'attic',
  })
  expect(settings.cpu).toBeUndefined()
  expect(settings.disk).toEqual({ threshold: 95, sustain: 3_600_000, clearBelow: 95 })
  expect(settings.hostName).toBe('attic')
})

test.each([
  ['METRICS_INTERVAL', '1ms'],
  ['METRICS_CPU_PERCENT', '900'],
  ['METRICS_MEMORY_SUSTAIN', '2 minutes'],
  ['METRICS_TEMP_CELSIUS', '80C'],
  ['METRICS_HOST_ROOT', 'host'],
  ['METRICS_HOST_NAME', 'two words'],
])('%s does not take %j, and says what it takes', (name, value) => {
  const read = () => readMetricsSettings({ [name]: value })
  expect(read).toThrow(SettingsError)
  expect(read).toThrow(new RegExp(`^${name} is "${value}", but it must be .* It sets .*`))
})

test('the README lists every setting with its default, every tool and every event, and no others', async () => {
  using host = createFixtureHost()
  const environment = { METRICS_HOST_ROOT: host.root }
  const clock = { now: () => 0, monotonic: () => 0, after: () => () => undefined }
  await using started = await metrics.start({
    clock,
    environment,
    log: () => undefined,
    emit: () => undefined,
  })
  const rowsOf = (pattern: RegExp) => [...README.matchAll(pattern)].map(match => match[1])
  expect(rowsOf(/^\| `(METRICS_\w+|SUPERBLOOM_DATA)` +\|/gm)).toEqual(Object.keys(settingsTable))
  for (const [name, setting] of Object.entries(settingsTable)) {
    expect(README).toMatch(new RegExp(`^\\| \`${name}\` +\\|.*\\| ${setting.default ?? '–'} +\\|$`, 'm'))
  }
  for (const { prefix, settings } of [prometheusSpec, alertmanagerSpec, nodeExporterSpec]) {
    const names = rowsOf(new RegExp(`^\\| \`${prefix}_(\\w+)\` +\\|`, 'gm'))
    expect(names).toEqual(Object.keys(settings))
  }
  expect(rowsOf(/^\| `([a-z]+_[a-z_]+)` +\| [^|]* \| [^|]* \|$/gm).slice(0, started.tools.length)).toEqual(
    started.tools.map(tool => tool.listed.name),
  )
  expect(rowsOf(/^\| `(\w+_(?:high|unhealthy))` +\|/gm)).toEqual(
    Object.keys(eventPayloads).filter(type =>
      /^((cpu|memory|disk|temp)_high|container_unhealthy)$/.test(type),
    ),
  )
})
