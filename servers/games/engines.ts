import type { Clock } from '../kit/clock.ts'
import { openEngine } from '../kit/docker/docker.ts'
import type { Engine } from '../kit/docker/engine.ts'
import { findEngines } from '../kit/docker/find-engines.ts'
import type { Environment } from '../kit/env.ts'

/**
 * Returns a function that finds the container engines of this moment; each is opened once. It throws
 * SettingsError if the settings are wrong.
 */
export function createEngines(environment: Environment, clock: Clock): () => readonly Engine[] {
  const opened = new Map<string, Engine>()
  return () =>
    findEngines(environment).map(found => {
      const key = JSON.stringify(found)
      const engine = opened.get(key) ?? openEngine({ ...found, clock })
      opened.set(key, engine)
      return engine
    })
}
