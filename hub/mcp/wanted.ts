/** The subscriptions: resources that clients want to be told of, each for as long as one of them does. */
export interface Wanted {
  has(uri: string): boolean
  /** Adds one client's resources; the returned function removes them again, once. */
  add(uris: readonly string[]): () => void
}

export function createWanted(onChange: (uris: ReadonlySet<string>) => void): Wanted {
  const counts = new Map<string, number>()
  const count = (uris: readonly string[], by: 1 | -1) => {
    const before = counts.size
    let changed = false
    for (const uri of uris) {
      const next = (counts.get(uri) ?? 0) + by
      changed ||= next === 0 || (by === 1 && next === 1)
      if (next === 0) counts.delete(uri)
      else counts.set(uri, next)
    }
    if (changed || counts.size !== before) onChange(new Set(counts.keys()))
  }
  return {
    has: uri => counts.has(uri),
    add(uris) {
      let isIn = true
      count(uris, 1)
      return () => {
        if (isIn) count(uris, -1)
        isIn = false
      }
    },
  }
}
