import { existsSync } from 'node:fs'
import type { Clock } from '../clock.ts'
import { type Environment, readSettings } from '../env.ts'
import { ToolFailure } from '../failure.ts'
import { listSetting } from '../settings.ts'
import { POD_ACCOUNT } from './account.ts'
import type { Cluster } from './cluster.ts'
import { openCluster } from './kubernetes.ts'

/** A cluster to open with `openCluster`. */
export interface ClusterAddress {
  /** "kubernetes", or the name of its context. */
  name: string
  /** Paths between colons; undefined inside a pod, where the pod's account is used. */
  kubeconfig: string | undefined
  /** Name of the context; undefined for the current one. */
  context: string | undefined
}

const table = {
  KUBE_CONTEXTS: listSetting({
    purpose: 'which contexts of the kubeconfig are used; without it the current one',
    where: '`kubectl config get-contexts`',
    form: 'names of contexts',
  }),
}

/**
 * Finds the clusters of an environment: those of the kubeconfig at `KUBECONFIG` or ~/.kube/config, or the one
 * that this process runs in. `KUBE_CONTEXTS` names the contexts; without it there is one cluster, of the
 * current context. Throws SettingsError. Cheap.
 */
export function findClusters(environment: Environment): ClusterAddress[] {
  const { KUBE_CONTEXTS } = readSettings(table, environment)
  const home = environment['HOME'] ? `${environment['HOME']}/.kube/config` : undefined
  const kubeconfig = environment['KUBECONFIG'] || (home && existsSync(home) ? home : undefined)
  const inside = environment['KUBERNETES_SERVICE_HOST'] && existsSync(POD_ACCOUNT.token)
  if (kubeconfig === undefined) {
    return inside ? [{ name: 'kubernetes', kubeconfig: undefined, context: undefined }] : []
  }
  if (KUBE_CONTEXTS.length === 0) return [{ name: 'kubernetes', kubeconfig, context: undefined }]
  return KUBE_CONTEXTS.map(context => ({ name: context, kubeconfig, context }))
}

function toNoCluster(): ToolFailure {
  return new ToolFailure({
    what: 'No Kubernetes cluster is configured here.',
    where: 'KUBECONFIG',
    why: 'it is not set, there is no ~/.kube/config, and this does not run inside of a pod',
    fix: 'Set KUBECONFIG to the path of a kubeconfig (k3s: /etc/rancher/k3s/k3s.yaml), or run this in a pod whose account may read pods.',
  })
}

/**
 * Opens the clusters of an environment; they connect at their first call. Each is opened once, so that it
 * logs in once.
 */
export function openClusters(environment: Environment, clock: Clock) {
  const opened = new Map<string, Cluster>()
  const open = (found: ClusterAddress): Cluster => {
    const key = `${found.name} ${found.kubeconfig}`
    const cluster = opened.get(key) ?? openCluster({ ...found, clock })
    opened.set(key, cluster)
    return cluster
  }
  return {
    /** Returns those that are configured now. */
    all: (): readonly Cluster[] => findClusters(environment).map(open),
    /** Returns the cluster of a context, or the usual one. Throws ToolFailure if there is none. */
    of(context: string | undefined): Cluster {
      const [usual] = findClusters(environment)
      if (!usual) throw toNoCluster()
      return open(context === undefined ? usual : { ...usual, name: context, context })
    },
  }
}
