import { inspect } from 'node:util'

/** Milliseconds that a test waits at most: about ten times the aim of the slowest step. */
const DEADLINE_MS = 60_000
/** Milliseconds between two checks of a condition without events. */
const LOOK_MS = 25
/** Number of recorded values that an error shows. */
const SHOWN = 12

export interface UntilOptions {
  /** Milliseconds. */
  within?: number
  /**
   * Registers a function to check again; returns a function that removes it. Without it the condition is
   * polled.
   */
  on?: (look: () => void) => () => void
}

/**
 * Resolves with `check`'s value once it is neither undefined nor false; rejects with `what` after the
 * deadline.
 */
export async function until<Value>(
  what: string,
  check: () => Value | undefined | false | Promise<Value | undefined | false>,
  options: UntilOptions = {},
): Promise<Value> {
  const { within = DEADLINE_MS, on } = options
  const ends = performance.now() + within
  for (;;) {
    // Registers before it checks, so that no event is missed in between.
    const again = Promise.withResolvers<void>()
    const off = on?.(() => again.resolve())
    const rest = ends - performance.now()
    const timer = setTimeout(() => again.resolve(), Math.max(0, on ? rest : Math.min(LOOK_MS, rest)))
    try {
      const value = await check()
      if (value !== undefined && value !== false) return value
      if (rest <= 0) throw new Error(`Waited ${within} ms in vain until ${what}`)
      await again.promise
    } finally {
      clearTimeout(timer)
      off?.()
    }
  }
}

/** Returns the promise's value, or rejects with an error that names what was awaited. */
export async function within<Value>(
  what: string,
  promise: Promise<Value>,
  limit = DEADLINE_MS,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited ${limit} ms in vain for ${what}`)), limit)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Collects values, and lets a test wait for one among the earlier and later ones. */
export function createRecord<Value>() {
  const all: Value[] = []
  const listeners = new Set<() => void>()
  return {
    all,
    add(value: Value) {
      all.push(value)
      for (const listener of listeners) listener()
    },
    /** Resolves with the first matching value, from number `from` on. */
    find(what: string, fits: (value: Value) => boolean, from = 0, limit = DEADLINE_MS): Promise<Value> {
      return until(what, () => all.slice(from).find(fits), {
        within: limit,
        on: look => {
          listeners.add(look)
          return () => listeners.delete(look)
        },
      }).catch((error: Error) => {
        const seen = inspect(all.slice(-SHOWN), { depth: 6, breakLength: 160 })
        throw new Error(`${error.message}. The last of ${all.length}: ${seen}`, { cause: error })
      })
    },
  }
}
