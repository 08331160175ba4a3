const KEPT = 10_000

/** A comparer of what exists at each poll: sessions, players, containers. */
export interface Changes {
  /**
   * Returns the keys that came and went since the last poll. The first poll only remembers: nothing old is
   * raised.
   */
  look(keys: Iterable<string>): { came: string[]; went: string[] }
}

export function createChanges(): Changes {
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

/**
 * A memory of all keys ever seen, for histories: an entry that falls out of the list and comes back is not
 * news.
 */
export interface News {
  /**
   * Returns the keys never seen before, in their order. The first poll only remembers: nothing old is raised.
   */
  look(keys: Iterable<string>): string[]
}

/** Remembers the last `kept` keys (10,000). */
export function createNews(kept = KEPT): News {
  let started = false
  let seen = new Set<string>()
  return {
    look(keys) {
      const listed = new Set(keys)
      const all = [...listed]
      const fresh = all.filter(key => !seen.has(key))
      // Keys that are still listed move to the young end, so that they are not forgotten.
      seen = new Set(
        [...[...seen].filter(key => !listed.has(key)), ...all].slice(-Math.max(kept, all.length)),
      )
      const first = !started
      started = true
      return first ? [] : fresh
    },
  }
}
