import { toTenth } from '../../kit/text.ts'

/** The size of a ring: how many means it keeps, and the milliseconds that each one covers. */
export interface RingSize {
  readonly step: number
  readonly size: number
}

/** The means that a ring knows: `last` is the number of the newest step since 1970. */
export interface RingState {
  last: number
  /** The newest mean is at the end; null where nothing was measured. */
  values: (number | null)[]
}

export type Ring = ReturnType<typeof createRing>

/** Creates a ring of means of fixed size: a new step replaces the oldest one. */
export function createRing({ step, size }: RingSize, state?: RingState) {
  const slots = new Float32Array(size).fill(Number.NaN)
  let last = Number.NEGATIVE_INFINITY
  /** Values in the mean of the newest step. */
  let count = 0
  const at = (number: number) => number % size
  const meanOf = (number: number) => {
    const value = number > last - size && number <= last ? slots[at(number)] : Number.NaN
    return value === undefined || Number.isNaN(value) ? null : toTenth(value)
  }
  const moveTo = (number: number) => {
    for (let each = Math.max(last + 1, number - size + 1); each <= number; each++)
      slots[at(each)] = Number.NaN
    last = number
    count = 0
  }
  if (state) {
    const kept = state.values.slice(-size)
    last = state.last
    kept.forEach((value, index) => {
      slots[at(last - kept.length + 1 + index)] = value ?? Number.NaN
    })
    count = meanOf(last) === null ? 0 : 1
  }
  return {
    /** Adds a value to the mean of its step. A clock that was set back adds nothing until it is past the newest step. */
    add(value: number, now: number) {
      const number = Math.floor(now / step)
      if (number < last) return
      if (number > last) moveTo(number)
      const mean = count === 0 ? 0 : (slots[at(number)] ?? 0)
      slots[at(number)] = (mean * count + value) / (count + 1)
      count++
    },
    /** Returns the means of all steps of `span` milliseconds up to `now`, the oldest first. */
    read(now: number, span: number): (number | null)[] {
      const newest = Math.floor(now / step)
      const length = Math.min(size, Math.ceil(span / step))
      return Array.from({ length }, (_, index) => meanOf(newest - length + 1 + index))
    },
    /** Tells whether all that it knows is older than the ring at this time. */
    isOver: (now: number) => Math.floor(now / step) - last >= size,
    /** Returns its state without the empty steps before the oldest mean. */
    state(): RingState {
      if (last === Number.NEGATIVE_INFINITY) return { last: 0, values: [] }
      const values = Array.from({ length: size }, (_, index) => meanOf(last - size + 1 + index))
      return { last, values: values.slice(values.findIndex(value => value !== null)) }
    },
  }
}
