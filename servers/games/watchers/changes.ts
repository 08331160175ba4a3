/** The players of a game, as a query reports them. */
export interface Playing {
  count: number
  /** Undefined if the game gives none; may be fewer than the players. */
  names: readonly string[] | undefined
}

/** A change between two polls. `names` is set if the game gives all of them. */
export type Change =
  | { type: 'player_joined' | 'player_left'; names: string[] | undefined }
  | { type: 'server_empty'; previousCount: number }

/**
 * Decides what changed since the poll before; nothing after the first poll. It compares names if both polls
 * have all of them, so that it sees one who came while another left; else the counts.
 */
export function decideChanges(before: Playing | undefined, now: Playing): Change[] {
  if (!before) return []
  const changes = byNames(before, now) ?? byCount(before, now)
  if (before.count > 0 && now.count === 0) {
    changes.push({ type: 'server_empty', previousCount: before.count })
  }
  return changes
}

function byNames(before: Playing, now: Playing): Change[] | undefined {
  const [had, has] = [allNames(before), allNames(now)]
  if (!had || !has) return undefined
  const came = without(has, had)
  const left = without(had, has)
  return [
    ...(came.length > 0 ? [{ type: 'player_joined' as const, names: came }] : []),
    ...(left.length > 0 ? [{ type: 'player_left' as const, names: left }] : []),
  ]
}

function byCount(before: Playing, now: Playing): Change[] {
  if (now.count === before.count) return []
  return [{ type: now.count > before.count ? 'player_joined' : 'player_left', names: undefined }]
}

function allNames({ count, names }: Playing): readonly string[] | undefined {
  return names?.length === count ? names : undefined
}

/** Removes each name only once: two players may have the same name. */
function without(names: readonly string[], others: readonly string[]): string[] {
  const left = [...others]
  return names.filter(name => {
    const at = left.indexOf(name)
    if (at < 0) return true
    left.splice(at, 1)
    return false
  })
}
