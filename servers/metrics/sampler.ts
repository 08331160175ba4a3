import { type Clock, sleep } from '../kit/clock.ts'
import type { Counters, Machine, Memory } from './machine/machine.ts'

/** A pause that is long enough for the counters' grain of 10 ms. */
export const WINDOW = 500
/** A look of the watchers may be this old to be the start of a window; a younger one than a second says too little. */
const FRESH = { from: 1000, to: 60_000 }

/** Two looks at the counters make a percentage and rates. */
export interface Sampler {
  /** The watchers' look: the counters now, and those of the look before (none at the first). */
  look(): Promise<{ from: Counters | undefined; to: Counters }>
  /** Two looks apart: from the watchers' last one, or half a second of its own where that is too young or old. */
  window(signal: AbortSignal): Promise<{ from: Counters; to: Counters }>
}

export function createSampler(machine: Machine, clock: Clock): Sampler {
  let last: Counters | undefined
  return {
    async look() {
      const from = last
      const to = await machine.counters()
      last = to
      return { from, to }
    },
    async window(signal) {
      let to = await machine.counters()
      const age = last === undefined ? 0 : to.at - last.at
      const from = last !== undefined && age >= FRESH.from && age <= FRESH.to ? last : to
      // A virtual machine that stood still counts nothing in a window; the next one tells.
      while (toCpuPercent(from, to) === undefined) {
        await sleep(clock, WINDOW, signal)
        to = await machine.counters()
      }
      return { from, to }
    },
  }
}

/** Busy time of all time of all cores, 0 to 100; undefined where no time was counted in between. */
export function toCpuPercent(from: Counters, to: Counters): number | undefined {
  const total = to.cpu.total - from.cpu.total
  if (total <= 0) return undefined
  return Math.min(100, Math.max(0, ((to.cpu.busy - from.cpu.busy) / total) * 100))
}

/** What programs cannot take any more, of all memory, 0 to 100: caches count as free. */
export function toMemoryPercent({ totalBytes, availableBytes }: Memory): number {
  return totalBytes > 0 ? Math.min(100, Math.max(0, (1 - availableBytes / totalBytes) * 100)) : 0
}

export interface NetworkUse {
  readonly name: string
  readonly receivedBytes: number
  readonly sentBytes: number
  /** Absent for an interface that appeared, or began to count anew, in between. */
  readonly rates?: { readonly received: number; readonly sent: number }
}

/** Totals as of `to`, and bytes per second between the two looks. */
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
