import type { EventPayload, EventType } from '../../schemas/events.ts'
import type { Clock } from './clock.ts'
import type { Emit } from './events.ts'
import { decideLevel, type LevelRule, type LevelState, NORMAL } from './level.ts'
import type { Watcher } from './server.ts'

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
