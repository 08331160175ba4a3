/** Who plays, as a query tells it. */
export interface Playing {
  count: number
  /** Undefined where the game gives none; may be fewer than there are players. */
  names: readonly string[] | undefined
}

/** What happened between two looks. `names` where the game tells all of them. */
export type Change =
  | { type: 'player_joined' | 'player_left'; names: string[] | undefined }
  | { type: 'server_empty'; previousCount: number }

/**
 * What changed since the look before; nothing where there was none. By names where both looks have all of them, so that
 * one who came while another left is seen; else by the count.
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

/** Two players may have the same name: one of them takes away only one. */
function without(names: readonly string[], others: readonly string[]): string[] {
  const left = [...others]
  return names.filter(name => {
    const at = left.indexOf(name)
    if (at < 0) return true
    left.splice(at, 1)
    return false
  })
}
