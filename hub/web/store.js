/**
 * Creates a store of one value, which calls its subscribers when the value changes.
 * @template Value
 * @param {Value} initial
 * @returns {import('./types.d.ts').Store<Value>}
 */
export function createStore(initial) {
  let value = initial
  const listeners = new Set()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of [...listeners]) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
