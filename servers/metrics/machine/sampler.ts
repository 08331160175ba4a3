import { type Clock, sleep } from '../../kit/clock.ts'
import type { Counters, Machine, Memory } from './machine.ts'

/** Milliseconds of a pause that is long enough for the counters' resolution of 10 ms. */
export const WINDOW = 500
/**
 * Age in milliseconds of a watchers' sample that may start a window; a sample younger than a second says too
 * little.
 */
const FRESH = { from: 1000, to: 60_000 }

export type Sampler = ReturnType<typeof createSampler>

/** Creates a source of samples of the counters: two make a percentage and rates. */
export function createSampler(machine: Machine, clock: Clock) {
  let last: Counters | undefined
  return {
    /** Takes the watchers' sample: the counters now, and those of the sample before (none at the first). */
    async sample(): Promise<{ from: Counters | undefined; to: Counters }> {
      const from = last
      const to = await machine.counters()
      last = to
      return { from, to }
    },
    /**
     * Returns two samples: from the watchers' last one, or half a second apart if that is too young or too old.
     */
    async window(signal: AbortSignal): Promise<{ from: Counters; to: Counters }> {
      let to = await machine.counters()
      const age = last === undefined ? 0 : to.at - last.at
      const from = last !== undefined && age >= FRESH.from && age <= FRESH.to ? last : to
      // A virtual machine that was paused counts nothing in a window; the next one has figures.
      while (toCpuPercent(from, to) === undefined) {
        await sleep(clock, WINDOW, signal)
        to = await machine.counters()
      }
      return { from, to }
    },
  }
}

/** Returns the busy share of the time of all cores, 0 to 100; undefined if no time was counted in between. */
export function toCpuPercent(from: Counters, to: Counters): number | undefined {
  const total = to.cpu.total - from.cpu.total
  if (total <= 0) return undefined
  return Math.min(100, Math.max(0, ((to.cpu.busy - from.cpu.busy) / total) * 100))
}

/** Returns the share of memory that programs cannot take any more, 0 to 100: caches count as free. */
export function toMemoryPercent({ totalBytes, availableBytes }: Memory): number {
  return totalBytes > 0 ? Math.min(100, Math.max(0, (1 - availableBytes / totalBytes) * 100)) : 0
}

export interface NetworkUse {
  readonly name: string
  readonly receivedBytes: number
  readonly sentBytes: number
  /** Bytes per second; absent for an interface that appeared, or whose counts restarted, in between. */
  readonly rates?: { readonly received: number; readonly sent: number }
}

/** Returns totals as of `to`, and bytes per second between the two samples. */
export function toNetworkUse(from: Counters, to: Counters): NetworkUse[] {
  const before = new Map(from.network.map(totals => [totals.name, totals]))
  const seconds = (to.at - from.at) / 1000
  return to.network.map(totals => {
    const earlier = before.get(totals.name)
    const received = totals.receivedBytes - (earlier?.receivedBytes ?? Number.NaN)
    const sent = totals.sentBytes - (earlier?.sentBytes ?? Number.NaN)
    const known = received >= 0 && sent >= 0 && seconds > 0
    return known
      ? { ...totals, rates: { received: received / seconds, sent: sent / seconds } }
      : { ...totals }
  })
}
