/** The range of an axis and the positions of its lines. */
export interface Axis {
  readonly from: number
  readonly to: number
  readonly ticks: readonly number[]
}

const NICE = [1, 2, 2.5, 5, 10]
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const TIME_STEPS = [
  ...[1, 5, 10, 30].map(count => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map(count => count * MINUTE),
  ...[1, 2, 3, 6, 12].map(count => count * HOUR),
  ...[1, 2, 7, 14, 30].map(count => count * DAY),
]

/**
 * Returns an axis of values that contains them all, with about `count` round lines. It includes zero if that
 * is near.
 */
export function toValueAxis(least: number, most: number, count = 5): Axis {
  const low = least > 0 && least < most / 2 ? 0 : least
  const flat = most - low <= Math.abs(most) * 1e-9
  const pad = flat ? Math.abs(most) / 2 || 1 : 0
  const [bottom, top] = [low - pad, most + pad]
  const step = toNiceStep((top - bottom) / count)
  const first = Math.floor(bottom / step)
  const last = Math.ceil(top / step)
  // Rounding removes the errors of binary fractions.
  const toTick = (_: unknown, index: number) => Number(((first + index) * step).toPrecision(12))
  const ticks = Array.from({ length: last - first + 1 }, toTick)
  return { from: first * step, to: last * step, ticks }
}

/** Returns an axis of time, unix milliseconds, with at most `count` lines at round times of UTC. */
export function toTimeAxis(from: number, to: number, count = 7): Axis {
  const step =
    TIME_STEPS.find(candidate => (to - from) / candidate <= count) ?? Math.ceil((to - from) / count)
  const first = Math.ceil(from / step)
  const last = Math.floor(to / step)
  const ticks = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step)
  return { from, to, ticks }
}

function toNiceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough))
  return (NICE.find(nice => nice * power >= rough * 0.999) ?? 10) * power
}
