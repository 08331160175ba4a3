import { cleanText } from '../../../kit/text.ts'
import { isRealNetwork } from '../../machine/counters.ts'
import type { About, Counters, Cpu, Memory } from '../../machine/machine.ts'
import type { Sample } from './exposition.ts'

/** The answer of a node-exporter, by metric. `at` is monotonic milliseconds. */
export interface Facts {
  readonly at: number
  has(metric: string): boolean
  all(metric: string): readonly Sample[]
  /** Returns the value of a metric without labels; undefined if it is missing. */
  one(metric: string): number | undefined
  /** Returns a label of a metric's first sample; undefined if it is missing or empty. */
  label(metric: string, name: string): string | undefined
}

export function createFacts(samples: ReadonlyMap<string, readonly Sample[]>, at: number): Facts {
  const all = (metric: string) => samples.get(metric) ?? []
  return {
    at,
    all,
    has: metric => all(metric).length > 0,
    one: metric => all(metric)[0]?.value,
    label: (metric, name) => all(metric)[0]?.labels[name] || undefined,
  }
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x86_64: 'x64', aarch64: 'arm64' }

export function toAbout(facts: Facts, host: string): About {
  const machine = facts.label('node_uname_info', 'machine') ?? 'unknown'
  const os = facts.label('node_os_info', 'pretty_name')
  const now = facts.one('node_time_seconds') ?? 0
  return {
    host,
    kernel: facts.label('node_uname_info', 'release') ?? 'unknown',
    arch: ARCHITECTURES[machine] ?? cleanText(machine, 40),
    uptimeSeconds: Math.max(0, now - (facts.one('node_boot_time_seconds') ?? now)),
    os,
  }
}

export function toCpu(facts: Facts): Cpu {
  const cores = new Set(facts.all('node_cpu_seconds_total').map(({ labels }) => labels['cpu'])).size
  const model = facts.label('node_cpu_info', 'model_name')
  const loads = [facts.one('node_load1'), facts.one('node_load5'), facts.one('node_load15')] as const
  const [one, five, fifteen] = loads
  const known = one !== undefined && five !== undefined && fifteen !== undefined
  return {
    cores,
    model,
    load: known ? [one, five, fifteen] : undefined,
  }
}

/** Sums the seconds of all cores and modes; waiting for a disk is idle time, and guests are part of user. */
export function toCounters(facts: Facts): Counters {
  let busy = 0
  let total = 0
  for (const { labels, value } of facts.all('node_cpu_seconds_total')) {
    total += value
    if (labels['mode'] !== 'idle' && labels['mode'] !== 'iowait') busy += value
  }
  const sent = new Map(
    facts.all('node_network_transmit_bytes_total').map(({ labels, value }) => [labels['device'], value]),
  )
  const network = facts.all('node_network_receive_bytes_total').flatMap(({ labels, value }) => {
    const name = labels['device'] ?? ''
    return isRealNetwork(name) ? [{ name, receivedBytes: value, sentBytes: sent.get(name) ?? 0 }] : []
  })
  return { at: facts.at, cpu: { busy, total }, network }
}

/**
 * Converts the memory figures. Kernels before 3.14 have no MemAvailable: free memory and caches replace it.
 */
export function toMemory(facts: Facts): Memory {
  const of = (name: string) => facts.one(`node_memory_${name}_bytes`)
  const swapTotal = of('SwapTotal') ?? 0
  const guessed = (of('MemFree') ?? 0) + (of('Buffers') ?? 0) + (of('Cached') ?? 0)
  return {
    totalBytes: of('MemTotal') ?? 0,
    availableBytes: of('MemAvailable') ?? guessed,
    ...(swapTotal > 0
      ? { swap: { totalBytes: swapTotal, usedBytes: swapTotal - (of('SwapFree') ?? 0) } }
      : {}),
  }
}
