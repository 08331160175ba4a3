import type { Clock } from '../../kit/clock.ts'
import { openEngine } from '../../kit/docker/docker.ts'
import type { Engine } from '../../kit/docker/engine.ts'
import { findEngines } from '../../kit/docker/find-engines.ts'
import type { Environment } from '../../kit/env.ts'
import type { Cluster } from '../../kit/kubernetes/cluster.ts'
import { findClusters } from '../../kit/kubernetes/find-clusters.ts'
import { openCluster } from '../../kit/kubernetes/kubernetes.ts'

/**
 * The engines and clusters. They are searched at each use, since an engine may start later than this server.
 */
export interface Sources {
  engines(): readonly Engine[]
  clusters(): readonly Cluster[]
}

/**
 * Opens the sources. Throws SettingsError if the settings of the engines or clusters are wrong. It connects
 * at the first use, and keeps what was opened once.
 */
export function openSources(environment: Environment, clock: Clock): Sources {
  const keep = createKeep()
  const sources: Sources = {
    engines: () =>
      findEngines(environment).map(found =>
        keep(`engine ${found.name} ${found.address}`, () => openEngine({ ...found, clock })),
      ),
    clusters: () =>
      findClusters(environment).map(found =>
        keep(`cluster ${found.name} ${found.kubeconfig}`, () => openCluster({ ...found, clock })),
      ),
  }
  sources.engines()
  sources.clusters()
  return sources
}

function createKeep() {
  const opened = new Map<string, Engine | Cluster>()
  return <Source extends Engine | Cluster>(key: string, open: () => Source): Source => {
    const source = (opened.get(key) as Source | undefined) ?? open()
    opened.set(key, source)
    return source
  }
}
