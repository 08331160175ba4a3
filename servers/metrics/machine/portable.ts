import { cpus, hostname, loadavg, release } from 'node:os'
import type { Systeminformation } from 'systeminformation'
import type { About, Cpu, Disk, Drive, Machine, Memory, Temperature } from './machine.ts'

const VERDICTS: Record<string, Drive['health']> = { ok: 'ok', verified: 'ok', 'predicted failure': 'failing' }

/**
 * Creates a machine of any system but Linux (macOS, Windows), read with systeminformation. That starts
 * programs of the system for most readings, and is loaded at the first one.
 */
export function createPortableMachine(options: {
  monotonic: () => number
  hostName?: string | undefined
}): Machine {
  const load = async () => (await import('systeminformation')).default
  return {
    async about() {
      const si = await load()
      return toAbout(await si.osInfo(), si.time().uptime, options.hostName)
    },
    cpu: async () => readCpu(),
    async counters() {
      const network = (await (await load()).networkStats('*')).filter(({ iface }) => !/^lo\d*$/.test(iface))
      return {
        at: options.monotonic(),
        cpu: readCpuTimes(),
        network: network.map(({ iface, rx_bytes, tx_bytes }) => ({
          name: iface,
          receivedBytes: rx_bytes,
          sentBytes: tx_bytes,
        })),
      }
    },
    memory: async () => toMemory(await (await load()).mem()),
    disks: async () => ({ disks: (await (await load()).fsSize()).flatMap(toDisk), silent: [] }),
    temperatures: async () => toTemperatures(await (await load()).cpuTemperature()),
    async processes(pause) {
      const si = await load()
      await si.processes()
      await pause()
      const { list } = await si.processes()
      const cores = cpus().length
      return list.map(({ pid, name, cpu, memRss }) => ({
        pid,
        name,
        cpuPercent: cpu * cores,
        memoryBytes: memRss * 1024,
      }))
    },
    drives: async () => (await (await load()).diskLayout()).map(toDrive),
  }
}

function readCpu(): Cpu {
  const [one = 0, five = 0, fifteen = 0] = loadavg()
  const model = cpus()[0]?.model
  return {
    cores: cpus().length,
    ...(model ? { model } : {}),
    ...(process.platform === 'win32' ? {} : { load: [one, five, fifteen] }),
  }
}

function readCpuTimes(): { busy: number; total: number } {
  const times = cpus().map(cpu => cpu.times)
  const sum = (pick: (time: (typeof times)[number]) => number) =>
    times.reduce((all, time) => all + pick(time), 0)
  const busy = sum(time => time.user + time.nice + time.sys + time.irq)
  return { busy, total: busy + sum(time => time.idle) }
}

function toAbout(os: Systeminformation.OsData, uptimeSeconds: number, hostName: string | undefined): About {
  return {
    host: hostName ?? hostname(),
    os: `${os.distro} ${os.release}`,
    kernel: release(),
    arch: os.arch,
    uptimeSeconds,
    ...(os.hypervizor ? { virtual: 'a virtual machine' } : {}),
  }
}

function toMemory(memory: Systeminformation.MemData): Memory {
  const swap = { totalBytes: memory.swaptotal, usedBytes: memory.swapused }
  return {
    totalBytes: memory.total,
    availableBytes: memory.available,
    ...(swap.totalBytes > 0 ? { swap } : {}),
  }
}

function toDisk(disk: Systeminformation.FsSizeData): Disk[] {
  if (!(disk.size > 0) || /^(tmpfs|devfs|overlay|squashfs)$/.test(disk.type)) return []
  return [
    {
      mount: disk.mount,
      device: disk.fs,
      type: disk.type,
      totalBytes: disk.size,
      usedBytes: disk.used,
      freeBytes: disk.available,
      percent: disk.use,
      readOnly: disk.rw === false,
    },
  ]
}

/** Converts the temperature; systeminformation returns null if it is unknown, whatever its types say. */
function toTemperatures({ main }: { main: number | null }): Temperature[] {
  return main === null || main <= 0 ? [] : [{ sensor: 'cpu', celsius: main }]
}

function toDrive(drive: Systeminformation.DiskLayoutData): Drive {
  const health = VERDICTS[drive.smartStatus.toLowerCase()]
  const kinds: Record<string, Drive['kind']> = { HD: 'hdd', SSD: 'ssd', NVMe: 'nvme' }
  const kind = kinds[drive.type]
  return {
    device: drive.device,
    warnings: [],
    ...(drive.name ? { model: drive.name } : {}),
    ...(drive.serialNum ? { serial: drive.serialNum } : {}),
    ...(drive.size > 0 ? { sizeBytes: drive.size } : {}),
    ...(drive.temperature ? { celsius: drive.temperature } : {}),
    ...(kind ? { kind } : {}),
    ...(health ? { health } : { unknown: 'the system does not tell its SMART status' }),
  }
}
