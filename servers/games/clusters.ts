import type { Clock } from '../kit/clock.ts'
import type { Cluster } from '../kit/engine/cluster.ts'
import { findClusters, toNoCluster } from '../kit/engine/find-clusters.ts'
import { openCluster } from '../kit/engine/kubernetes.ts'
import type { Environment } from '../kit/env.ts'

/**
 * The cluster of a context of the kubeconfig, or the usual one where the context is undefined; each is opened once. Throws
 * ToolFailure where there is none.
 */
export function createClusters(
  environment: Environment,
  clock: Clock,
): (context: string | undefined) => Cluster {
  const opened = new Map<string | undefined, Cluster>()
  return context => {
    const known = opened.get(context)
    if (known) return known
    const usual = findClusters(environment)[0]
    if (!usual) throw toNoCluster()
    const named = context === undefined ? usual : { ...usual, name: context, context }
    const cluster = openCluster({ ...named, clock })
    opened.set(context, cluster)
    return cluster
  }
}
