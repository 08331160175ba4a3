import type { Clock } from '../../kit/clock.ts'
import { openEngine } from '../../kit/docker/docker.ts'
import type { Engine } from '../../kit/docker/engine.ts'
import { findEngines } from '../../kit/docker/find-engines.ts'
import type { Environment } from '../../kit/env.ts'
import type { Cluster } from '../../kit/kubernetes/cluster.ts'
import { openClusters } from '../../kit/kubernetes/find-clusters.ts'

/**
 * The engines and clusters. They are searched at each use, since an engine may start later than this server.
 */
export interface Sources {
  engines(): readonly Engine[]
  clusters(): readonly Cluster[]
}

/**
 * Opens the sources, which connect at their first use. Throws SettingsError if the settings of the engines or
 * clusters are wrong.
 */
export function openSources(environment: Environment, clock: Clock): Sources {
  const sources = {
    engines: () => findEngines(environment).map(found => openEngine({ ...found, clock })),
    clusters: openClusters(environment, clock).all,
  }
  sources.engines()
  sources.clusters()
  return sources
}
