import { readdir, readFile } from 'node:fs/promises'
import { type Clock, sleep } from '../../../kit/clock.ts'

const WINDOW = 500
/** Milliseconds of a tick in /proc (proc(5)): a hundredth of a second, whatever the kernel's own tick is. */
const TICK_MS = 10
const KIB = 1024

interface Use {
  cpuMs: number
  memoryBytes: number
}

/**
 * Measures the use of a process group over half a second. Undefined if there is no /proc, or no such group.
 */
export async function readGroupUse(
  group: number,
  clock: Clock,
  signal?: AbortSignal,
): Promise<{ cpuPercent: number; memoryBytes: number } | undefined> {
  const before = await readGroup(group)
  const since = clock.monotonic()
  await sleep(clock, WINDOW, signal)
  const after = await readGroup(group)
  const passed = clock.monotonic() - since
  if (!before || !after || passed <= 0) return undefined
  return {
    cpuPercent: (Math.max(0, after.cpuMs - before.cpuMs) / passed) * 100,
    memoryBytes: after.memoryBytes,
  }
}

async function readGroup(group: number): Promise<Use | undefined> {
  const pids = await readdir('/proc').catch(() => [])
  const uses = await Promise.all(pids.filter(name => /^\d+$/.test(name)).map(pid => readMember(pid, group)))
  const members = uses.filter(use => use !== undefined)
  if (members.length === 0) return undefined
  return members.reduce((sum, use) => ({
    cpuMs: sum.cpuMs + use.cpuMs,
    memoryBytes: sum.memoryBytes + use.memoryBytes,
  }))
}

/** Returns undefined for a process of another group, and for one that ended meanwhile. */
async function readMember(pid: string, group: number): Promise<Use | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The program's name is in parentheses and may contain some itself. After it come: state, parent, group, …
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (Number(fields[2]) !== group) return undefined
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const resident = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]
  return {
    cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
    memoryBytes: Number(resident ?? 0) * KIB,
  }
}
