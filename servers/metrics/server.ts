import type { Clock } from '../kit/clock.ts'
import { runServer } from '../kit/run.ts'
import type { ServerDefinition, ServerDeps, StartedServer } from '../kit/server.ts'
import { cleanText } from '../kit/text.ts'
import { VERSION } from '../kit/version.ts'
import { type MetricsSettings, readMetricsSettings } from './config.ts'
import { createLinuxMachine } from './machine/linux/linux.ts'
import type { Machine } from './machine/machine.ts'
import { createPortableMachine } from './machine/portable.ts'
import { createSampler } from './sampler.ts'
import { getDiskHealth } from './tools/get-disk-health.ts'
import { getProcesses } from './tools/get-processes.ts'
import { getSystemMetrics } from './tools/get-system-metrics.ts'
import { createWatchers } from './watchers/watchers.ts'

/** The host's metrics: tools to look, and events when a level is high. Settings: see config.ts. */
export const metrics: ServerDefinition = {
  name: 'metrics',
  version: VERSION,
  title: 'Host metrics',
  instructions:
    'Looks after the machine itself. get_system_metrics says how it is doing, get_processes what uses it, ' +
    'get_disk_health whether a drive is failing. Nothing here changes anything. Events (events://metrics): cpu_high, ' +
    'memory_high, disk_high, temp_high.',
  start,
}

async function start({ clock, environment, emit }: ServerDeps): Promise<StartedServer> {
  const settings = readMetricsSettings(environment)
  const machine = createMachine(settings, clock)
  const sampler = createSampler(machine, clock)
  const host = cleanText((await machine.about()).host, 100)
  return {
    tools: [
      getSystemMetrics({ machine, sampler, clock }),
      getProcesses({ machine, clock }),
      getDiskHealth({ machine }),
    ],
    watchers: createWatchers({ host, machine, sampler, settings, emit, clock }),
    [Symbol.asyncDispose]: async () => undefined,
  }
}

function createMachine({ hostRoot, hostName }: MetricsSettings, clock: Clock): Machine {
  return process.platform === 'linux'
    ? createLinuxMachine({ clock, hostRoot, hostName })
    : createPortableMachine({ monotonic: () => clock.monotonic(), hostName })
}

if (import.meta.main) await runServer(metrics, { kind: 'stdio' })
