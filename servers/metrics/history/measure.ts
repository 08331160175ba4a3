import { cleanText } from '../../kit/text.ts'
import type { Counters, Machine } from '../machine/machine.ts'
import { toCpuPercent, toMemoryPercent } from '../machine/sampler.ts'
import { type History, limitKinds, type Measured } from './history.ts'

/** Milliseconds between two measurements: a little less than a minute, so that no minute stays empty. */
export const MEASURE_EVERY = 55_000

/**
 * Creates what measures a host for the history, at most once in `MEASURE_EVERY` however often it is called. The use
 * of the CPU is that since the measurement before.
 */
export function createMeasure(host: string, machine: Machine, history: History): () => Promise<void> {
  let last: Counters | undefined
  return async () => {
    const to = await machine.counters()
    if (last !== undefined && to.at - last.at < MEASURE_EVERY) return
    const percent = last && toCpuPercent(last, to)
    last = to
    const [memory, { disks }, temperatures] = await Promise.all([
      machine.memory(),
      machine.disks(),
      machine.temperatures(),
    ])
    const measured: Measured[] = [
      ...(percent === undefined ? [] : [{ kind: 'cpu' as const, name: '', value: percent }]),
      { kind: 'memory', name: '', value: toMemoryPercent(memory) },
      ...disks.map(({ mount, percent: value }) => ({ kind: 'disk' as const, name: cleanText(mount), value })),
      ...temperatures.map(({ sensor, celsius: value }) => {
        return { kind: 'temperature' as const, name: cleanText(sensor), value }
      }),
    ]
    history.add(host, limitKinds(measured))
  }
}
