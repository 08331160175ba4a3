import { runServer } from '../kit/run.ts'
import type { ServerDefinition } from '../kit/server.ts'
import { VERSION } from '../kit/version.ts'

/**
 * The server for machines, containers, Prometheus and alerts: tools to read, and events when something is
 * wrong. Settings: see the README.
 */
export const metrics: ServerDefinition = {
  name: 'metrics',
  version: VERSION,
  title: 'Metrics',
  instructions:
    'Looks after machines and what runs on them. get_system_metrics says how a machine is doing, get_processes what uses ' +
    'it, get_disk_health whether a drive is failing. get_container_status says how containers and pods are, ' +
    'get_container_logs what they wrote, restart_container restarts one. query_prometheus asks for any metric and draws it, ' +
    'get_alerts lists alerts, silence_alert and expire_silence quieten them. Events (events://metrics): cpu_high, ' +
    'memory_high, disk_high, temp_high, container_unhealthy.',
  start: async deps => (await import('./start.ts')).start(deps),
}

if (import.meta.main) await runServer(metrics, { kind: 'stdio' })
