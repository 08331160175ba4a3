const KEPT = 10_000

/** Creates a comparer of what exists at each poll: sessions, players, failing downloads. */
export function createChanges() {
  let before: ReadonlySet<string> | undefined
  return {
    /** Returns the keys that came since the last poll. The first poll only remembers: nothing old is raised. */
    look(keys: Iterable<string>): string[] {
      const last = before
      before = new Set(keys)
      return last ? [...before].filter(key => !last.has(key)) : []
    },
  }
}

/**
 * Creates a memory of the last `kept` keys ever seen, for histories: an entry that falls out of the list and
 * comes back is not news.
 */
export function createNews(kept = KEPT) {
  let seen: ReadonlySet<string> | undefined
  return {
    /** Returns the keys never seen before, in their order. The first poll only remembers. */
    look(keys: Iterable<string>): string[] {
      const listed = new Set(keys)
      const before = seen ?? listed
      // Keys that are still listed move to the young end, so that they are not forgotten.
      const others = [...before].filter(key => !listed.has(key))
      seen = new Set([...others, ...listed].slice(-Math.max(kept, listed.size)))
      return [...listed].filter(key => !before.has(key))
    },
  }
}
