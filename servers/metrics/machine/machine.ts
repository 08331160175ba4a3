/** Running totals; two of them make a CPU percentage and network rates. `at` is monotonic milliseconds. */
export interface Counters {
  readonly at: number
  /** In any unit, the same for both: their differences are divided. */
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
  readonly model?: string
  /** Runnable tasks on average over 1, 5 and 15 minutes; absent where the system has no such figure. */
  readonly load?: readonly [number, number, number]
}

export interface Memory {
  readonly totalBytes: number
  /** What programs can still take without swapping, caches included. */
  readonly availableBytes: number
  /** Absent where there is no swap. */
  readonly swap?: { readonly totalBytes: number; readonly usedBytes: number }
}

/** A mounted filesystem of a real disk. */
export interface Disk {
  readonly mount: string
  readonly device: string
  readonly type: string
  /** What `df` calls size, used and available: reserved blocks are neither used nor free. */
  readonly totalBytes: number
  readonly usedBytes: number
  readonly freeBytes: number
  /** Used of what could be used, 0 to 100, as `df` counts. */
  readonly percent: number
  /** Used of the filesystem's files (inodes), 0 to 100; absent where it has no fixed number of them. */
  readonly inodePercent?: number
  readonly readOnly: boolean
}

/** The disks that answered, and the mounts that did not within two seconds (a network share that hangs). */
export interface Disks {
  readonly disks: readonly Disk[]
  readonly silent: readonly string[]
}

export interface Temperature {
  /** The same after a restart: "coretemp Package id 0". */
  readonly sensor: string
  readonly celsius: number
  /** Where the hardware protects itself, if it says so. */
  readonly criticalCelsius?: number
}

export interface ProcessUse {
  readonly pid: number
  readonly name: string
  /** Of one core, as top(1) shows it: a program on two cores may show 200. */
  readonly cpuPercent: number
  /** Resident, shared pages included. */
  readonly memoryBytes: number
}

/** Whose a process is. */
export interface Owner {
  /** The user's name, or number where it has no name. */
  readonly user: string
  /** The systemd unit: "nginx.service". */
  readonly unit?: string
  /** Of the container that it runs in: 64 hexadecimal digits. */
  readonly containerId?: string
}

/** A physical drive, with what its self-monitoring (SMART) says. */
export interface Drive {
  readonly device: string
  readonly model?: string
  readonly serial?: string
  readonly kind?: 'hdd' | 'ssd' | 'nvme'
  readonly sizeBytes?: number
  /** Absent where the drive does not tell; `unknown` says why. */
  readonly health?: 'ok' | 'warning' | 'failing'
  readonly unknown?: string
  readonly warnings: readonly string[]
  readonly celsius?: number
  readonly powerOnHours?: number
  /** How much of its rated life an SSD has used; above 100 is possible. */
  readonly wearPercent?: number
}

export interface About {
  readonly host: string
  readonly os?: string
  readonly kernel: string
  readonly arch: string
  readonly uptimeSeconds: number
  /** What kind of virtual machine this is; absent on hardware, or where it cannot be told. */
  readonly virtual?: string
}

/**
 * What can be asked of the machine. Each may reject with the system's error. Names come from the machine as they
 * are: whoever shows them cleans them.
 */
export interface Machine {
  about(): Promise<About>
  cpu(): Promise<Cpu>
  counters(): Promise<Counters>
  memory(): Promise<Memory>
  disks(): Promise<Disks>
  /** Empty where no sensor can be read. */
  temperatures(): Promise<readonly Temperature[]>
  /** Looks twice and calls `pause` in between: the CPU's use is that of the pause. */
  processes(pause: () => Promise<void>): Promise<readonly ProcessUse[]>
  /** By pid; undefined where this cannot be told on this system. */
  owners?(pids: readonly number[]): Promise<ReadonlyMap<number, Owner>>
  /** Starts a program per drive (smartctl); `signal` ends it. */
  drives(signal: AbortSignal): Promise<readonly Drive[]>
}
