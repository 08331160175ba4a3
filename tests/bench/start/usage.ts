import { readdirSync, readFileSync } from 'node:fs'
import { childrenOf } from '../../support/processes.ts'

/** Mebibytes: a process's resident memory, and the same with shared pages divided among their users. */
export interface Memory {
  rss: number
  pss: number
}

export function memoryOf(pid: number): Memory {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const read = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1]) / 1024
  return { rss: read('Rss'), pss: read('Pss') }
}

/**
 * Returns milliseconds of CPU used so far by a process's threads and its descendants, finer than its ticks.
 */
export function cpuOf(pid: number): number {
  return [pid, ...childrenOf(pid).map(child => child.pid)].reduce((sum, one) => sum + ownCpuOf(one), 0)
}

/** Returns the CPU milliseconds of one process without descendants. */
export function ownCpuOf(pid: number): number {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map(task =>
    readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8'),
  )
  return nanoseconds.reduce((sum, text) => sum + Number.parseInt(text, 10), 0) / 1e6
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

export function round(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
