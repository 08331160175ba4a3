import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import { readState, writeState } from '../../kit/state-file.ts'
import { createRing, type Ring, type RingSize, type RingState } from './ring.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Milliseconds between two writes of the file: what a crash may lose. */
const SAVE_EVERY = 15 * MINUTE
/** Curves of one kind and host, such as the sensors of a machine. */
const MOST_OF_A_KIND = 12

const MINUTES: RingSize = { step: MINUTE, size: DAY / MINUTE }
const HOURS: RingSize = { step: HOUR, size: (7 * DAY) / HOUR }

/** The spans that can be read, with the milliseconds of each and of its steps. */
const SPANS = {
  hour: { span: HOUR, step: MINUTE },
  day: { span: DAY, step: 10 * MINUTE },
  week: { span: 7 * DAY, step: HOUR },
} as const
export const HISTORY_SPANS = ['hour', 'day', 'week'] as const
export type HistorySpan = (typeof HISTORY_SPANS)[number]

export const HISTORY_KINDS = ['cpu', 'memory', 'disk', 'temperature'] as const

/** A measured figure: `name` is the mount or the sensor, and empty for the CPU and the memory. */
export interface Measured {
  kind: (typeof HISTORY_KINDS)[number]
  name: string
  /** Per cent, or °C. */
  value: number
}

const ringState = z.object({ last: z.number(), values: z.array(z.number().nullable()) })
const curveState = z.object({
  host: z.string(),
  kind: z.enum(HISTORY_KINDS),
  name: z.string(),
  minutes: ringState,
  hours: ringState,
})
const stateFile = z.object({ curves: z.array(curveState) })

interface Curve extends Omit<Measured, 'value'> {
  host: string
  minutes: Ring
  hours: Ring
}

export type History = ReturnType<typeof openHistory>

/**
 * Opens the course of the hosts' figures over a week, in rings of fixed size: means of minutes for a day, means of
 * hours for a week. Without a file it is kept in memory only. The opener disposes of it, which writes the file.
 */
export function openHistory(file: string | undefined, clock: Clock, log: Log) {
  const curves = new Map<string, Curve>()
  for (const { minutes, hours, ...of } of readState(file, stateFile, log)?.curves ?? [])
    put(of, minutes, hours)
  let savedAt = clock.now()
  let isChanged = false

  function put(of: Omit<Curve, 'minutes' | 'hours'>, minutes?: RingState, hours?: RingState): Curve {
    const curve = { ...of, minutes: createRing(MINUTES, minutes), hours: createRing(HOURS, hours) }
    curves.set(keyOf(of), curve)
    return curve
  }
  function save() {
    savedAt = clock.now()
    for (const [key, { hours }] of curves) if (hours.isOver(savedAt)) curves.delete(key)
    if (!isChanged) return
    isChanged = false
    const all = [...curves.values()].map(({ minutes, hours, ...of }) => {
      return { ...of, minutes: minutes.state(), hours: hours.state() }
    })
    writeState(file, { curves: all }, log)
  }

  return {
    /** Adds what was measured of a host now. */
    add(host: string, measured: readonly Measured[]) {
      const now = clock.now()
      for (const { value, ...of } of measured) {
        const curve = curves.get(keyOf({ host, ...of })) ?? put({ host, ...of })
        curve.minutes.add(value, now)
        curve.hours.add(value, now)
      }
      isChanged = true
      if (Math.abs(now - savedAt) >= SAVE_EVERY) save()
    },
    /** Returns the curves of a host that have a value in the span, with the time of the first step. */
    read(host: string, wanted: HistorySpan) {
      const { span, step } = SPANS[wanted]
      const now = clock.now()
      const found = HISTORY_KINDS.flatMap(kind =>
        [...curves.values()].filter(curve => curve.host === host && curve.kind === kind),
      )
      const all = found.map(({ kind, name, minutes, hours }) => {
        const values = (wanted === 'week' ? hours : minutes).read(now, span)
        return { kind, name, values: toMeans(values, wanted === 'day' ? step / MINUTE : 1) }
      })
      const ringStep = wanted === 'week' ? HOUR : MINUTE
      const from = (Math.floor(now / ringStep) + 1) * ringStep - span
      return { from, step, curves: all.filter(({ values }) => values.some(value => value !== null)) }
    },
    [Symbol.dispose]: save,
  }
}

function keyOf({ host, kind, name }: Omit<Curve, 'minutes' | 'hours'>): string {
  return JSON.stringify([host, kind, name])
}

/** Returns the means of each `size` values; null where none of them is known. */
function toMeans(values: readonly (number | null)[], size: number): (number | null)[] {
  if (size === 1) return [...values]
  return Array.from({ length: Math.ceil(values.length / size) }, (_, index) => {
    const known = values.slice(index * size, (index + 1) * size).filter(value => value !== null)
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length
  })
}

/** Returns at most so many figures of each kind that the history stays small. */
export function limitKinds(measured: readonly Measured[]): Measured[] {
  return HISTORY_KINDS.flatMap(kind => measured.filter(one => one.kind === kind).slice(0, MOST_OF_A_KIND))
}
