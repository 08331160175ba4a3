/** Running totals; two of them make a CPU percentage and network rates. `at` is monotonic milliseconds. */
export interface Counters {
  readonly at: number
  /** Times in any unit, the same for both: their differences are divided. */
  readonly cpu: { readonly busy: number; readonly total: number }
  readonly network: readonly NetworkTotals[]
}

export interface NetworkTotals {
  readonly name: string
  readonly receivedBytes: number
  readonly sentBytes: number
}

export interface Cpu {
  readonly cores: number
  readonly model?: string | undefined
  /** Average number of runnable tasks over 1, 5 and 15 minutes; absent if the system has no such figure. */
  readonly load?: readonly [number, number, number] | undefined
}

export interface Memory {
  readonly totalBytes: number
  /** Bytes that programs can still take without swapping, caches included. */
  readonly availableBytes: number
  /** Absent if there is no swap. */
  readonly swap?: { readonly totalBytes: number; readonly usedBytes: number } | undefined
}

/** A mounted filesystem of a real disk. */
export interface Disk {
  readonly mount: string
  readonly device: string
  readonly type: string
  /** Size, used and available bytes as `df` counts: reserved blocks are neither used nor free. */
  readonly totalBytes: number
  readonly usedBytes: number
  readonly freeBytes: number
  /** Used per cent of the usable space, 0 to 100, as `df` counts. */
  readonly percent: number
  /** Used per cent of the inodes, 0 to 100; absent if the filesystem has no fixed number of them. */
  readonly inodePercent?: number | undefined
  readonly readOnly: boolean
}

/** The disks that answered, and the mounts that did not within two seconds (a network share that hangs). */
export interface Disks {
  readonly disks: readonly Disk[]
  readonly silent: readonly string[]
}

export interface Temperature {
  /** The sensor's name, the same after a restart: "coretemp Package id 0". */
  readonly sensor: string
  readonly celsius: number
  /** Temperature at which the hardware protects itself, if known. */
  readonly criticalCelsius?: number | undefined
}

export interface ProcessUse {
  readonly pid: number
  readonly name: string
  /** Per cent of one core, as in top(1): a program on two cores may show 200. */
  readonly cpuPercent: number
  /** Resident bytes, shared pages included. */
  readonly memoryBytes: number
}

/** The owner of a process. */
export interface Owner {
  /** The user's name, or the number if it has no name. */
  readonly user: string
  /** The systemd unit: "nginx.service". */
  readonly unit?: string | undefined
  /** Id of the process's container: 64 hexadecimal digits. */
  readonly containerId?: string | undefined
}

/** A physical drive, with its self-monitoring (SMART). */
export interface Drive {
  readonly device: string
  readonly model?: string | undefined
  readonly serial?: string | undefined
  readonly kind?: 'hdd' | 'ssd' | 'nvme' | undefined
  readonly sizeBytes?: number | undefined
  /** Absent if the drive does not report it; `unknown` says why. */
  readonly health?: 'ok' | 'warning' | 'failing' | undefined
  readonly unknown?: string | undefined
  readonly warnings: readonly string[]
  readonly celsius?: number | undefined
  readonly powerOnHours?: number | undefined
  /** Per cent of its rated life that an SSD has used; may exceed 100. */
  readonly wearPercent?: number | undefined
}

export interface About {
  readonly host: string
  readonly os?: string | undefined
  readonly kernel: string
  readonly arch: string
  readonly uptimeSeconds: number
  /** The kind of virtual machine; absent on hardware, or if it is not known. */
  readonly virtual?: string | undefined
}

/**
 * A machine's readings. Each may reject with the system's error. Names are as the machine gives them: the
 * code that shows them cleans them.
 */
export interface Machine {
  about(): Promise<About>
  cpu(): Promise<Cpu>
  counters(): Promise<Counters>
  memory(): Promise<Memory>
  disks(): Promise<Disks>
  /** Empty if no sensor can be read. */
  temperatures(): Promise<readonly Temperature[]>
  /** Takes two samples and calls `pause` in between: the CPU use is that of the pause. */
  processes(pause: () => Promise<void>): Promise<readonly ProcessUse[]>
  /** Returns the owners by pid; undefined if this system cannot report them. */
  owners?(pids: readonly number[]): Promise<ReadonlyMap<number, Owner>>
  /** Starts a program per drive (smartctl); `signal` ends it. */
  drives(signal: AbortSignal): Promise<readonly Drive[]>
}
