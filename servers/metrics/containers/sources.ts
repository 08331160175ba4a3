import type { Clock } from '../../kit/clock.ts'
import { openEngine } from '../../kit/docker/docker.ts'
import type { Engine } from '../../kit/docker/engine.ts'
import { findEngines } from '../../kit/docker/find-engines.ts'
import type { Environment } from '../../kit/env.ts'
import { openClusters } from '../../kit/kubernetes/find-clusters.ts'

export type Sources = ReturnType<typeof openSources>

/**
 * Opens the engines and clusters, which connect at their first use. They are searched at each use, since an
 * engine may start later than this server. Throws SettingsError if their settings are wrong.
 */
export function openSources(environment: Environment, clock: Clock) {
  const sources = {
    engines: (): readonly Engine[] => findEngines(environment).map(found => openEngine({ ...found, clock })),
    clusters: openClusters(environment, clock).all,
  }
  sources.engines()
  sources.clusters()
  return sources
}
