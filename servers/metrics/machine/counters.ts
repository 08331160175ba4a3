import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Counters, Cpu, NetworkTotals } from './machine.ts'
import { type Roots, readFirst } from './roots.ts'

/** The loopback and the interfaces of containers: their traffic is counted on the bridge. */
const VIRTUAL = /^(lo|(veth|cali|ifb|dummy).*)$/

/** Tells whether an interface carries the machine's own traffic. */
export function isRealNetwork(name: string): boolean {
  return !VIRTUAL.test(name)
}

export async function readCounters(roots: Roots, monotonic: () => number): Promise<Counters> {
  const stat = await readFile(join(roots.proc, 'stat'), 'utf8')
  const at = monotonic()
  return { at, cpu: parseCpuTimes(stat), network: parseNetwork(await readNetwork(roots)) }
}

export async function readCpu(roots: Roots): Promise<Cpu> {
  const read = (name: string) => readFile(join(roots.proc, name), 'utf8')
  const [stat, info, load] = await Promise.all([read('stat'), read('cpuinfo'), read('loadavg')])
  const model = /^(?:model name|Model)\s*:\s*(.+)$/m.exec(info)?.[1]
  const [one = 0, five = 0, fifteen = 0] = load.split(' ').map(Number)
  const cores = stat.match(/^cpu\d+ /gm)?.length ?? 1
  return { cores, load: [one, five, fifteen], model }
}

/**
 * Parses proc(5), /proc/stat: user nice system idle iowait irq softirq steal (guest is part of user). Waiting
 * for a disk is idle time; time that the hypervisor stole is not.
 */
export function parseCpuTimes(stat: string): { busy: number; total: number } {
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0] = stat
    .slice(0, stat.indexOf('\n'))
    .split(/\s+/)
    .slice(1)
    .map(Number)
  const busy = user + nice + system + irq + softirq + steal
  return { busy, total: busy + idle + iowait }
}

/**
 * Parses proc(5), /proc/net/dev: after the name come 8 figures of receiving, the first being bytes, then of
 * sending.
 */
export function parseNetwork(text: string): NetworkTotals[] {
  return text.split('\n').flatMap(line => {
    const [name = '', figures] = line.split(':')
    if (figures === undefined || !isRealNetwork(name.trim())) return []
    const numbers = figures.trim().split(/\s+/).map(Number)
    return [{ name: name.trim(), receivedBytes: numbers[0] ?? 0, sentBytes: numbers[8] ?? 0 }]
  })
}

/** Reads the host's network from its first process, since a container has a network of its own. */
function readNetwork({ host, proc }: Roots): Promise<string> {
  const own = join(proc, 'net/dev')
  return host === undefined ? readFile(own, 'utf8') : readFirst([join(proc, '1/net/dev'), own])
}
