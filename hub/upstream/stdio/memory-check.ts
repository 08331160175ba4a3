import { readdirSync, readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import type { Clock } from '../../core/clock.ts'
import { signalProcess } from './child.ts'

/** Milliseconds from the first activity to the next look at a server's memory. */
export const CHECK_MS = 15_000
/** The growth in bytes since the last look after which there is another, whether it is active or not. */
const GROWTH = 1024 * 1024
const GIB = 1024 ** 3

/** Looks at the memory of a server's processes while it is active or grows; otherwise it has no timer. */
export interface MemoryCheck {
  /** Called whenever the server is sent something, or says something. */
  onActive(): void
  stop(): void
}

/**
 * Returns the bytes that a server may use unless its entry says more: 4 GiB, and at most half of the memory of
 * the machine or of the container.
 */
export function defaultMemory(): number {
  const container = process.constrainedMemory() || Number.POSITIVE_INFINITY
  return Math.min(4 * GIB, Math.min(totalmem(), container) / 2)
}

/**
 * Kills `pid` and everything that it started once they use more bytes than `limit`; calls `onOver` before that.
 * Only Linux tells what they use; elsewhere it does nothing.
 */
export function createMemoryCheck(
  clock: Clock,
  { pid, limit }: { pid: number; limit: number },
  onOver: (used: number) => void,
  read: typeof readUse = readUse,
): MemoryCheck {
  let cancel: (() => void) | undefined
  let isStopped = process.platform !== 'linux'
  let last = 0
  const onActive = () => {
    if (!isStopped) cancel ??= clock.after(CHECK_MS, look)
  }
  const look = () => {
    const { pids, used } = read(pid)
    cancel = undefined
    if (used > limit) {
      isStopped = true
      onOver(used)
      for (const one of pids) signalProcess(one, 'SIGKILL')
    }
    const isGrowing = used > last + GROWTH
    last = used
    if (isGrowing) onActive()
  }
  onActive()
  return {
    onActive,
    stop() {
      isStopped = true
      cancel?.()
    },
  }
}

/** Says what a server that used too much memory did. */
export function describeOverMemory(used: number, limit: number): string {
  const [took, most] = [used, limit].map(bytes => (bytes / GIB).toFixed(1))
  return `it used ${took} GiB of memory; its limit is ${most} GiB (memory in its entry)`
}

/** Returns a process with everything that it started, and the bytes of memory that they use together. */
function readUse(leader: number): { pids: number[]; used: number } {
  const pids = readTree(leader)
  return { pids, used: pids.reduce((sum, pid) => sum + readOwnMemory(pid), 0) }
}

/** Returns a process, its process group and everything that they started. */
function readTree(leader: number): number[] {
  const below = new Map<number, number[]>()
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry)
    if (!pid) continue
    // The name of the program, which may contain anything, is in brackets before the state.
    const fields = readProc(`${entry}/stat`).split(') ').at(-1)?.split(' ', 3) ?? []
    const [, parent = 0, group] = fields.map(Number)
    const above = group === leader && pid !== leader ? leader : parent
    below.set(above, [...(below.get(above) ?? []), pid])
  }
  const tree = new Set([leader])
  // Members that are added meanwhile are visited too.
  for (const pid of tree) for (const child of below.get(pid) ?? []) tree.add(child)
  return [...tree]
}

/** Returns the bytes of a process's own memory, also in swap; not those of files, which processes share. */
function readOwnMemory(pid: number): number {
  const lines = readProc(`${pid}/status`).matchAll(/^(?:RssAnon|VmSwap):\s+(\d+) kB$/gm)
  return [...lines].reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0)
}

/** Returns the text of a process's file; empty if the process is gone. These are read without a disk. */
function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    return ''
  }
}
