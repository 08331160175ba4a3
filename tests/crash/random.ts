/** Random numbers that are reproducible from a seed. */
export interface Random {
  /** Returns a number from 0 to under 1. */
  next(): number
  /** Returns a whole number from `low` to `high`, both included. */
  between(low: number, high: number): number
  pick<Value>(values: readonly [Value, ...Value[]]): Value
}

/** Creates the numbers by mulberry32 of Tommy Ettinger. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1))
  return { next, between, pick: values => values[between(0, values.length - 1)] ?? values[0] }
}
