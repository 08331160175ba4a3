import type { EventPayload, EventType } from '../../schemas/events.ts'
import type { Clock } from './clock.ts'
import type { Emit } from './events.ts'
import type { Watcher } from './server.ts'

/** The rule for a high level: values have the unit of the watched figure, times are milliseconds. */
export interface LevelRule {
  /** Lowest value that counts as high. */
  readonly threshold: number
  /** Milliseconds that the level must be high without a break before it is raised. */
  readonly sustain: number
  /** Value below which a raised level ends; between the two thresholds the state does not change. */
  readonly clearBelow: number
}

/** `since`: since when the level is high without a break; undefined if it is not. */
export interface LevelState {
  readonly since?: number
  readonly isRaised: boolean
}

export const NORMAL: LevelState = { isRaised: false }

/**
 * Decides the next state after one more value, seen at `now`: a level is raised once when it has been high
 * for long enough, stays raised while it lasts, and can be raised again after it fell below `clearBelow`.
 */
export function decideLevel(
  state: LevelState,
  value: number,
  { threshold, sustain, clearBelow }: LevelRule,
  now: number,
): { state: LevelState; raise: boolean } {
  if (state.isRaised) return { state: value < clearBelow ? NORMAL : state, raise: false }
  if (value < threshold) return { state: NORMAL, raise: false }
  const since = state.since ?? now
  const isRaised = now - since >= sustain
  return { state: { since, isRaised }, raise: isRaised }
}

/** One value of one subject: the machine's CPU, a mount, a sensor. */
export interface Reading<Type extends EventType> {
  /** Identifies the subject among those of its type, the same every time. */
  readonly key: string
  readonly value: number
  readonly payload: EventPayload<Type>
}

export interface LevelWatcherSpec<Type extends EventType> {
  /** The watcher's name; default the type. Set it if several watchers have the same type. */
  readonly name?: string | undefined
  readonly type: Type
  readonly rule: LevelRule
  readonly every: number
  /** Reads all subjects as they are now; returns none if nothing is known yet. */
  read(): Promise<readonly Reading<Type>[]>
}

/** Raises an event for each subject whose level is high. A subject that is gone is forgotten. */
export function createLevelWatcher<Type extends EventType>(
  spec: LevelWatcherSpec<Type>,
  emit: Emit,
  clock: Clock,
): Watcher {
  const { type, rule, every } = spec
  let states = new Map<string, LevelState>()
  return {
    name: spec.name ?? type,
    every,
    async poll() {
      const readings = await spec.read()
      const next = new Map<string, LevelState>()
      for (const { key, value, payload } of readings) {
        const decision = decideLevel(states.get(key) ?? NORMAL, value, rule, clock.monotonic())
        next.set(key, decision.state)
        if (decision.raise) emit(type, payload, key)
      }
      states = next
    },
  }
}
