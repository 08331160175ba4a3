const KEPT = 10_000

/** What is there now, look by look: sessions, players, containers. */
export interface Edges {
  /** What came and what went since the last look. The first look only remembers: it raises nothing old. */
  look(keys: Iterable<string>): { came: string[]; went: string[] }
}

export function createEdges(): Edges {
  let before: Set<string> | undefined
  return {
    look(keys) {
      const now = new Set(keys)
      const last = before
      before = now
      if (!last) return { came: [], went: [] }
      return { came: [...now].filter(key => !last.has(key)), went: [...last].filter(key => !now.has(key)) }
    },
  }
}

/** What was ever seen, for histories: an entry that falls out of the list and comes back is not news. */
export interface News {
  /** Those never seen before, in their order. The first look only remembers: it raises nothing old. */
  look(keys: Iterable<string>): string[]
}

/** Remembers the last 10,000 keys. */
export function createNews(kept = KEPT): News {
  let started = false
  let seen = new Set<string>()
  return {
    look(keys) {
      const listed = new Set(keys)
      const all = [...listed]
      const fresh = all.filter(key => !seen.has(key))
      // Those that are still listed move to the young end, so that they are not forgotten.
      seen = new Set(
        [...[...seen].filter(key => !listed.has(key)), ...all].slice(-Math.max(kept, all.length)),
      )
      const first = !started
      started = true
      return first ? [] : fresh
    },
  }
}
