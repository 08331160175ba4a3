import { accessSetting } from '../kit/access.ts'
import {
  type Environment,
  numberSetting,
  readSettings,
  type Setting,
  type SettingsTable,
  spanSetting,
  textSetting,
  thresholdSetting,
} from '../kit/env.ts'
import type { Instance, InstanceSpec } from '../kit/instances.ts'
import type { LevelRule } from '../kit/levels.ts'
import { required, secretSetting, urlSetting } from '../kit/settings.ts'
import { findStateFile } from '../kit/state-file.ts'

const SECOND = 1000
const DAY = 86_400_000

const percent = (purpose: string, text: string) =>
  thresholdSetting({ purpose: `${purpose} (percent)`, default: text, min: 1, max: 100 })
const sustain = (event: string, text: string) =>
  spanSetting({ purpose: `how long it must last until ${event} is raised`, default: text, min: 0, max: DAY })

/** Every setting of this server. A test compares them with the README. */
export const settingsTable = {
  METRICS_INTERVAL: spanSetting({
    purpose: 'how often the watchers look',
    default: '15s',
    min: 0.05 * SECOND,
    max: DAY,
  }),
  METRICS_CPU_PERCENT: percent('the CPU use that raises cpu_high', '90'),
  METRICS_CPU_SUSTAIN: sustain('cpu_high', '2m'),
  METRICS_MEMORY_PERCENT: percent('the memory use that raises memory_high', '90'),
  METRICS_MEMORY_SUSTAIN: sustain('memory_high', '2m'),
  METRICS_DISK_PERCENT: percent("the disk's use that raises disk_high", '85'),
  METRICS_DISK_SUSTAIN: sustain('disk_high', '0s'),
  METRICS_TEMP_CELSIUS: thresholdSetting({
    purpose: 'the temperature that raises temp_high (°C)',
    default: '80',
    min: 1,
    max: 150,
  }),
  METRICS_TEMP_SUSTAIN: sustain('temp_high', '0s'),
  METRICS_CLEAR_POINTS: numberSetting({
    purpose: 'how far below its threshold (points, °C) a level must fall before it can be raised again',
    default: '5',
    min: 0,
    max: 50,
  }),
  METRICS_HOST_ROOT: textSetting({
    purpose:
      "where the host's / is mounted when this runs in a container, so that it reads the host and not the container",
    form: 'an absolute path, such as "/host"',
    pattern: /^\//,
  }),
  METRICS_HOST_NAME: textSetting({
    purpose: "the machine's name in results and events, instead of its own",
    form: 'a name of at most 100 letters, digits, dots, dashes and underscores',
    pattern: /^[\w.-]{1,100}$/,
  }),
  METRICS_HISTORY: textSetting({
    purpose:
      'the file that keeps a week of CPU, memory, disks and temperatures over a restart; off: no history',
    form: 'a path, or off',
    pattern: /./,
  }),
  SUPERBLOOM_DATA: textSetting({
    purpose: 'the folder of that file, where it has no path of its own; the hub sets its own folder',
    form: 'a path',
    pattern: /./,
  }),
} satisfies SettingsTable & Record<string, Setting<unknown>>

export interface MetricsSettings {
  /** Milliseconds. */
  readonly interval: number
  readonly cpu: LevelRule | undefined
  readonly memory: LevelRule | undefined
  readonly disk: LevelRule | undefined
  readonly temperature: LevelRule | undefined
  readonly hostRoot: string | undefined
  readonly hostName: string | undefined
  /** Undefined: there is none. Without a file it is kept in memory only. */
  readonly history: { readonly file: string | undefined } | undefined
}

/** Reads the settings. Throws SettingsError. A level that is `off` is undefined. */
export function readMetricsSettings(environment: Environment): MetricsSettings {
  const read = readSettings(settingsTable, environment)
  const rule = (threshold: number | undefined, lasting: number): LevelRule | undefined =>
    threshold === undefined
      ? undefined
      : { threshold, sustain: lasting, clearBelow: threshold - read.METRICS_CLEAR_POINTS }
  return {
    interval: read.METRICS_INTERVAL,
    cpu: rule(read.METRICS_CPU_PERCENT, read.METRICS_CPU_SUSTAIN),
    memory: rule(read.METRICS_MEMORY_PERCENT, read.METRICS_MEMORY_SUSTAIN),
    disk: rule(read.METRICS_DISK_PERCENT, read.METRICS_DISK_SUSTAIN),
    temperature: rule(read.METRICS_TEMP_CELSIUS, read.METRICS_TEMP_SUSTAIN),
    hostRoot: read.METRICS_HOST_ROOT,
    hostName: read.METRICS_HOST_NAME,
    history:
      read.METRICS_HISTORY === 'off'
        ? undefined
        : { file: read.METRICS_HISTORY ?? findStateFile('metrics-history.json', environment) },
  }
}

/** Settings of a login, which these programs lack: their web config or a proxy before them may require it. */
const connection = (purpose: string, where: string) => ({
  URL: required(urlSetting({ purpose: `the address of ${purpose}`, where })),
  TOKEN: secretSetting({ purpose: 'the bearer token, where one is asked for' }),
  USERNAME: textSetting({
    purpose: 'the user, where a password is asked for',
    form: 'a name without a colon',
    pattern: /^[^:\r\n]{1,200}$/,
  }),
  PASSWORD: secretSetting({ purpose: "the user's password" }),
})
type Spec = InstanceSpec<SettingsTable & { URL: Setting<string> }>

export const prometheusSpec = {
  title: 'Prometheus',
  prefix: 'PROMETHEUS',
  settings: connection('Prometheus', 'the page of Prometheus, port 9090'),
} satisfies Spec

export const alertmanagerSpec = {
  title: 'Alertmanager',
  prefix: 'ALERTMANAGER',
  settings: {
    ...connection('Alertmanager', 'the page of Alertmanager, port 9093'),
    ACCESS: accessSetting(),
  },
} satisfies Spec

export const nodeExporterSpec = {
  title: 'Node-exporter',
  prefix: 'NODE_EXPORTER',
  settings: connection("another machine's node-exporter", 'that machine, port 9100, without /metrics'),
} satisfies Spec

export type HttpInstance = Instance<typeof prometheusSpec.settings>
export type AlertmanagerInstance = Instance<typeof alertmanagerSpec.settings>
