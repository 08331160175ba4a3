/** The rule for a high level: values have the unit of the watched figure, times are milliseconds. */
export interface LevelRule {
  /** Lowest value that counts as high. */
  readonly threshold: number
  /** Milliseconds that the level must be high without a break before it is raised. */
  readonly sustain: number
  /** Value below which a raised level ends; between the two thresholds the state does not change. */
  readonly clearBelow: number
}

export type LevelState =
  | { readonly kind: 'normal' }
  | { readonly kind: 'rising'; readonly since: number }
  | { readonly kind: 'raised' }

export const NORMAL: LevelState = { kind: 'normal' }

/**
 * Decides the next state after one more value, seen at `now`: a level is raised once when it has been high
 * for long enough, stays raised while it lasts, and can be raised again after it fell below `clearBelow`.
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
