import { arch, hostname, release, uptime } from 'node:os'
import { ToolFailure } from '../../kit/failure.ts'
import type { Machine } from './machine.ts'

/**
 * Creates the machine of a system that is not Linux: it tells its name, and every reading fails with words
 * that say what to use instead.
 */
export function createUnreadMachine(
  hostName: string | undefined,
  platform: NodeJS.Platform = process.platform,
): Machine {
  const refuse = async (): Promise<never> => {
    throw new ToolFailure({
      what: 'The figures of this machine cannot be read here.',
      where: platform,
      why: `they come from /proc and /sys of Linux, and this system is ${platform}`,
      fix: 'Run an exporter on it that a Prometheus scrapes, and use query_prometheus. A Linux machine with a node-exporter can be asked for as host (NODE_EXPORTER_<NAME>_URL). Containers, Prometheus and alerts work here too.',
    })
  }
  return {
    about: async () => ({
      host: hostName ?? hostname(),
      kernel: release(),
      arch: arch(),
      uptimeSeconds: uptime(),
    }),
    cpu: refuse,
    counters: refuse,
    memory: refuse,
    disks: refuse,
    temperatures: refuse,
    processes: refuse,
    drives: refuse,
  }
}
