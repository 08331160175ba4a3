import type { Counters, Disk, Machine } from '../machine/machine.ts'

export const GIB = 2 ** 30

export function fakeDisk(disk: Partial<Disk> = {}): Disk {
  return {
    mount: '/',
    device: '/dev/sda1',
    type: 'ext4',
    totalBytes: 252 * GIB,
    usedBytes: 103 * GIB,
    freeBytes: 149 * GIB,
    percent: 41,
    readOnly: false,
    ...disk,
  }
}

/** Returns counters whose CPU was busy for `busy` of `total` ticks. */
export function fakeCounters(
  at: number,
  busy: number,
  total: number,
  network: Counters['network'] = [],
): Counters {
  return { at, cpu: { busy, total }, network }
}

/** Creates a quiet machine without sensors; a test replaces parts of it. */
export function createFakeMachine(machine: Partial<Machine> = {}): Machine {
  return {
    about: async () => ({ host: 'nas', kernel: '6.12', arch: 'x64', uptimeSeconds: 7200 }),
    cpu: async () => ({ cores: 2, load: [0.4, 0.3, 0.2] }),
    counters: async () => fakeCounters(0, 0, 0),
    memory: async () => ({ totalBytes: 24 * GIB, availableBytes: 20.9 * GIB }),
    disks: async () => ({ disks: [fakeDisk()], silent: [] }),
    temperatures: async () => [],
    processes: async pause => {
      await pause()
      return []
    },
    drives: async () => [],
    ...machine,
  }
}
