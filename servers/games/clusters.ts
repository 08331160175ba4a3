import type { Clock } from '../kit/clock.ts'
import type { Environment } from '../kit/env.ts'
import type { Cluster } from '../kit/kubernetes/cluster.ts'
import { findClusters, toNoCluster } from '../kit/kubernetes/find-clusters.ts'
import { openCluster } from '../kit/kubernetes/kubernetes.ts'

/**
 * Returns a function that opens the cluster of a kubeconfig's context, or the usual one if it is undefined;
 * each is opened once. It throws ToolFailure if there is none.
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
