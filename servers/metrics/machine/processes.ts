import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { endianness } from 'node:os'
import { join } from 'node:path'
import type { ProcessUse } from './machine.ts'
import { type Roots, readText } from './roots.ts'

/** Keys of getauxval(3): the size of a page in bytes, and the clock ticks per second. */
const AT_PAGESZ = 6n
const AT_CLKTCK = 17n

interface Units {
  readonly pageBytes: number
  readonly ticksPerSecond: number
}

/** The use of a process so far. */
interface ProcessTimes {
  readonly pid: number
  /** Ticks from the boot to its start; they distinguish it from an earlier process with the same pid. */
  readonly started: number
  readonly name: string
  /** CPU seconds of one core since it started. */
  readonly cpuSeconds: number
  readonly memoryBytes: number
}

/** Reads the use of every process, its CPU during `pause`. A process that ended meanwhile is omitted. */
export async function readProcesses(
  roots: Roots,
  monotonic: () => number,
  pause: () => Promise<void>,
): Promise<ProcessUse[]> {
  const units = parseAuxv(await readFile('/proc/self/auxv'))
  const start = monotonic()
  const before = await readTimes(roots, units)
  await pause()
  const seconds = (monotonic() - start) / 1000
  const uses = toProcessUse(before, await readTimes(roots, units), seconds)
  return Promise.all(uses.map(async use => ({ ...use, name: await readName(roots, use) })))
}

/**
 * Returns the file that the program was started as, which people know. The kernel's own name is cut at 15
 * characters and often that of a thread ("MainThread"); it is used if there is no command line, such as for
 * the kernel's threads.
 */
async function readName(roots: Roots, { pid, name, memoryBytes }: ProcessUse): Promise<string> {
  const commandLine = memoryBytes > 0 ? await readText(join(roots.proc, String(pid), 'cmdline')) : undefined
  return toProgramName(commandLine ?? '') ?? name
}

/**
 * Returns the program of a command line without its arguments, which may hold secrets. Programs that rewrite
 * theirs put a colon or a space after the name ("nginx: worker process"); undefined if there is no name.
 */
export function toProgramName(commandLine: string): string | undefined {
  const program = commandLine.split('\0', 1)[0] ?? ''
  const path = /^[A-Za-z]:\\/.test(program) ? program.replaceAll('\\', '/').slice(2) : program
  return /([^/]+)$/.exec(path.split(/[:\s]/, 1)[0] ?? '')?.[1]?.replace(/^-/, '') || undefined
}

/**
 * Returns the use between two samples that are `seconds` apart. A process without a first sample started in
 * between.
 */
export function toProcessUse(
  before: readonly ProcessTimes[],
  after: readonly ProcessTimes[],
  seconds: number,
): ProcessUse[] {
  const id = ({ pid, started }: ProcessTimes) => `${pid} ${started}`
  const used = new Map(before.map(times => [id(times), times.cpuSeconds]))
  return after.map(times => {
    const { pid, name, memoryBytes } = times
    const spent = Math.max(0, times.cpuSeconds - (used.get(id(times)) ?? 0))
    return { pid, name, memoryBytes, cpuPercent: (spent / seconds) * 100 }
  })
}

async function readTimes(roots: Roots, units: Units): Promise<ProcessTimes[]> {
  const pids = (await readdir(roots.proc)).filter(name => /^\d+$/.test(name))
  return pids.flatMap(pid => {
    const stat = readStat(join(roots.proc, pid, 'stat'))
    const times = stat === undefined ? undefined : parseProcessStat(stat, units)
    return times ? [times] : []
  })
}

/**
 * Parses proc_pid_stat(5): pid (comm) state …, where comm may hold anything, even ") R 1"; after it utime is
 * the 12th, stime the 13th, starttime the 20th and rss (in pages) the 22nd field. Undefined if the text is
 * cut.
 */
export function parseProcessStat(stat: string, units: Units): ProcessTimes | undefined {
  const open = stat.indexOf('(')
  const close = stat.lastIndexOf(')')
  const fields = stat.slice(close + 2).split(' ')
  if (open < 0 || close < open || fields.length < 22) return undefined
  const field = (index: number) => Number(fields[index])
  return {
    pid: Number.parseInt(stat, 10),
    started: field(19),
    name: stat.slice(open + 1, close),
    cpuSeconds: (field(11) + field(12)) / units.ticksPerSecond,
    memoryBytes: field(21) * units.pageBytes,
  }
}

/** Parses pairs of machine words: key and value. */
export function parseAuxv(auxv: Buffer): Units {
  const values = new Map<bigint, number>()
  const read = (at: number) => (endianness() === 'LE' ? auxv.readBigUInt64LE(at) : auxv.readBigUInt64BE(at))
  for (let at = 0; at + 16 <= auxv.length; at += 16) values.set(read(at), Number(read(at + 8)))
  return { pageBytes: values.get(AT_PAGESZ) ?? 4096, ticksPerSecond: values.get(AT_CLKTCK) ?? 100 }
}

/** Reads synchronously: the kernel answers at once, and a thousand promises cost more than the reading. */
function readStat(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined // the process ended between the listing and the reading
  }
}
