/** When a level is high: values have the unit of what is watched, times are milliseconds. */
export interface LevelRule {
  /** From here on it is high. */
  readonly threshold: number
  /** How long it must be high without a break until it is raised. */
  readonly sustain: number
  /** A raised level is over below this value; between the two it stays as it was. */
  readonly clearBelow: number
}

export type LevelState =
  | { readonly kind: 'normal' }
  | { readonly kind: 'rising'; readonly since: number }
  | { readonly kind: 'raised' }

export const NORMAL: LevelState = { kind: 'normal' }

/**
 * What one more value, seen at `now`, makes of a level: it is raised once when it has been high for long enough,
 * held while it lasts, and can be raised again after it fell below `clearBelow`.
 */
export function decideLevel(
  state: LevelState,
  value: number,
  rule: LevelRule,
  now: number,
): { state: LevelState; raise: boolean } {
  switch (state.kind) {
    case 'raised':
      return { state: value < rule.clearBelow ? NORMAL : state, raise: false }
    case 'normal':
    case 'rising': {
      if (value < rule.threshold) return { state: NORMAL, raise: false }
      const since = state.kind === 'rising' ? state.since : now
      if (now - since < rule.sustain) return { state: { kind: 'rising', since }, raise: false }
      return { state: { kind: 'raised' }, raise: true }
    }
    default:
      return state satisfies never
  }
}
