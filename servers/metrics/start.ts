import type { ServerDeps, StartedServer } from '../kit/server.ts'
import { cleanText } from '../kit/text.ts'
import { readMetricsSettings } from './config.ts'
import { openSources } from './containers/sources.ts'
import { checkUpstreams } from './health.ts'
import { openHistory } from './history/history.ts'
import { createMeasure, MEASURE_EVERY } from './history/measure.ts'
import { openHosts } from './hosts.ts'
import { createLinuxMachine } from './machine/linux.ts'
import type { Machine } from './machine/machine.ts'
import { createSampler } from './machine/sampler.ts'
import { createUnreadMachine } from './machine/unread.ts'
import { expireSilence } from './tools/expire-silence.ts'
import { getAlerts } from './tools/get-alerts.ts'
import { getContainerLogs } from './tools/get-container-logs.ts'
import { getContainerStatus } from './tools/get-container-status.ts'
import { getDiskHealth } from './tools/get-disk-health.ts'
import { getProcesses } from './tools/get-processes.ts'
import { getSystemMetrics } from './tools/get-system-metrics.ts'
import { queryPrometheus } from './tools/query-prometheus.ts'
import { restartContainer } from './tools/restart-container.ts'
import { silenceAlert } from './tools/silence-alert.ts'
import { openUpstreams } from './upstreams/upstreams.ts'
import { createEngineWatcher, createPodWatcher } from './watchers/containers.ts'
import { createRemoteWatcher, createWatchers } from './watchers/machine.ts'

/** Starts the server with its settings. Throws SettingsError if they are wrong. */
export async function start({ clock, environment, emit, log }: ServerDeps): Promise<StartedServer> {
  const settings = readMetricsSettings(environment)
  const upstreams = openUpstreams(environment, clock)
  const sources = openSources(environment, clock)
  const { hostRoot, hostName } = settings
  const isLinux = process.platform === 'linux'
  const machine = isLinux ? createLinuxMachine({ clock, hostRoot, hostName }) : createUnreadMachine(hostName)
  const name = cleanText((await machine.about()).host, 100)
  const local = { name, machine, sampler: createSampler(machine, clock) }
  const hosts = openHosts(local, upstreams.nodeExporters, clock)
  const { alertmanagers, prometheuses } = upstreams
  const deps = { settings, emit, clock }
  const engines = createEngineWatcher(sources, { emit, clock, log })
  const history = settings.history ? openHistory(settings.history.file, clock, log) : undefined
  const measure = (host: string, of: Machine) =>
    history ? createMeasure(host, of, history) : async () => undefined
  return {
    tools: [
      getSystemMetrics({ hosts, history, clock }),
      getProcesses({ machine, clock, engines: sources.engines }),
      getDiskHealth({ machine }),
      getContainerStatus({ sources, clock }),
      getContainerLogs({ sources, clock }),
      restartContainer({ sources }),
      queryPrometheus({ all: prometheuses, clock }),
      getAlerts({ alertmanagers, prometheuses, clock }),
      silenceAlert({ all: alertmanagers, clock }),
      expireSilence({ all: alertmanagers }),
    ],
    watchers: [
      ...(isLinux ? createWatchers({ host: name, ...local, ...deps }) : []),
      ...(isLinux && history
        ? [{ name: 'history', every: MEASURE_EVERY, poll: measure(name, machine) }]
        : []),
      ...hosts.remote.map(host =>
        createRemoteWatcher({ host: host.name, ...host, ...deps, measure: measure(host.name, host.machine) }),
      ),
      engines,
      ...sources.clusters().map(cluster => createPodWatcher(cluster, settings.interval, deps)),
    ],
    health: () => checkUpstreams({ hosts, sources, alertmanagers, prometheuses }),
    async [Symbol.asyncDispose]() {
      engines[Symbol.dispose]()
      history?.[Symbol.dispose]()
    },
  }
}
