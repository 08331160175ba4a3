import type { Clock } from '../../kit/clock.ts'
import { readAbout } from './about.ts'
import { readCounters, readCpu } from './counters.ts'
import { createDiskReader } from './disks.ts'
import { createSmartctl, type RunSmartctl, readDrives } from './drives.ts'
import type { Machine } from './machine.ts'
import { readMemory } from './memory.ts'
import { readOwners } from './owners.ts'
import { readProcesses } from './processes.ts'
import { findRoots } from './roots.ts'
import { readTemperatures } from './sensors.ts'

export interface LinuxOptions {
  clock: Clock
  /** The host's `/` inside a container. */
  hostRoot?: string | undefined
  /** The machine's name in results, instead of its own. */
  hostName?: string | undefined
  smartctl?: RunSmartctl
}

/**
 * Creates a Linux machine, read from /proc and /sys: it starts no program but smartctl. Throws SettingsError.
 */
export function createLinuxMachine(options: LinuxOptions): Machine {
  const { clock, hostRoot, hostName, smartctl = createSmartctl() } = options
  const roots = findRoots(hostRoot)
  return {
    about: () => readAbout(roots, hostName),
    cpu: () => readCpu(roots),
    counters: () => readCounters(roots, clock.monotonic),
    memory: () => readMemory(roots),
    disks: createDiskReader(roots, clock),
    temperatures: () => readTemperatures(roots),
    processes: pause => readProcesses(roots, clock.monotonic, pause),
    owners: pids => readOwners(roots, pids),
    drives: signal => readDrives(roots, smartctl, signal),
  }
}
