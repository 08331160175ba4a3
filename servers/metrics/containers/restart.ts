import type { ContainerDetails, Engine } from '../../kit/docker/engine.ts'
import { ToolFailure } from '../../kit/failure.ts'
import type { Cluster, Pod, Workload } from '../../kit/kubernetes/cluster.ts'
import { quote, toCountText } from '../../kit/text.ts'
import { type Listing, matchTargets, pickTarget, toUnknown } from './targets.ts'

/** The object of a restart. */
export type Restart =
  | { kind: 'container'; name: string; source: Engine; details: ContainerDetails }
  | { kind: 'pod'; name: string; source: Cluster; pod: Pod; workload: Workload | undefined }
  | { kind: 'workload'; name: string; source: Cluster; workload: Workload }

/**
 * Finds the object of a name: a container or a pod of exactly this name, else a Deployment or StatefulSet,
 * else the only one of the Compose service or app. Throws a ToolFailure if there are none or several.
 */
export async function findRestart(
  listing: Listing,
  clusters: readonly Cluster[],
  name: string,
  signal: AbortSignal,
): Promise<Restart> {
  const workloads = (await Promise.all(clusters.map(cluster => listWorkloads(cluster, signal)))).flat()
  const wanted = name.trim().toLowerCase()
  const named = workloads.filter(({ workload }) => {
    return [workload.name, `${workload.namespace}/${workload.name}`].some(one => one.toLowerCase() === wanted)
  })
  const [only] = named
  const found = matchTargets(listing.targets, name)
  const isExact = found.some(target => target.name.toLowerCase() === wanted)
  if (only && !isExact && named.length === 1) {
    return { kind: 'workload', name: toWorkloadName(only.workload), ...only }
  }
  const target = pickTarget(listing, name)
  if (target.kind === 'pod') {
    const owner = workloads.find(one => one.source === target.source && owns(one.workload, target.pod))
    return { ...target, workload: owner?.workload }
  }
  const details = await target.source.inspect(target.container.id, signal)
  if (!details) throw toUnknown(listing, name)
  return { kind: 'container', name: target.name, source: target.source, details }
}

async function listWorkloads(source: Cluster, signal: AbortSignal) {
  const workloads = await source.workloads({}, signal)
  return workloads.map(workload => ({ source, workload }))
}

function toWorkloadName({ kind, namespace, name }: Workload): string {
  return `${kind} ${namespace}/${name}`
}

/**
 * Tells whether a pod matches the workload's selector, of which only equality is understood:
 * "app=web,tier=front".
 */
export function owns({ namespace, selector }: Workload, pod: Pod): boolean {
  const pairs = selector.split(',').map(pair => pair.split('='))
  return (
    namespace === pod.namespace &&
    selector !== '' &&
    pairs.every(([label = '', value]) => value !== undefined && pod.labels[label] === value)
  )
}

/** Decides the preview of a restart with surprising effects; undefined if it does what everyone expects. */
export function decideSurprise(
  restart: Restart,
  ownHost: string,
): { would: string; effects: string[] } | undefined {
  const name = quote(restart.name, 300)
  switch (restart.kind) {
    case 'container': {
      const { id, state } = restart.details
      if (ownHost.length >= 12 && id.startsWith(ownHost)) {
        const effects = ['This server ends in the middle of the call, and so may the hub.']
        return { would: `restart ${name}, the container that this very server runs in`, effects }
      }
      if (state === 'running' || state === 'restarting') return undefined
      return { would: `start ${name}, which does not run now (${state})`, effects: [] }
    }
    case 'pod': {
      if (restart.workload) return undefined
      const effects = ['No Deployment or StatefulSet was found that would make a new one.']
      return { would: `delete the pod ${name}`, effects }
    }
    case 'workload': {
      const { replicas } = restart.workload
      if (replicas === 1) return undefined
      const effects = replicas === 0 ? ['It is scaled to 0: nothing would run afterwards either.'] : []
      return { would: `restart ${toCountText(replicas, 'pod')} of ${name}, one after the other`, effects }
    }
    default:
      return restart satisfies never
  }
}

/**
 * Restarts it; resolves when the engine or the cluster has accepted it. `grace`: seconds until a container is
 * killed.
 */
export async function doRestart(restart: Restart, grace: number, signal: AbortSignal): Promise<void> {
  switch (restart.kind) {
    case 'container':
      return restart.source.restart(restart.details.id, grace, signal)
    case 'pod':
      return restart.source.deletePod(restart.pod, signal)
    case 'workload':
      return restart.source.restart(restart.workload, signal)
    default:
      restart satisfies never
  }
}

/** Returns the failure of a container that ended right after its restart. */
export function toDidNotStay(name: string, engine: string, details: ContainerDetails): ToolFailure {
  const code = details.exitCode === undefined ? '' : ` with code ${details.exitCode}`
  const memory = details.oom ? ', for using too much memory' : ''
  return new ToolFailure({
    what: `${quote(name, 300)} was restarted and ended at once.`,
    where: engine,
    why: `it is ${details.state} now${code}${memory}`,
    fix: 'Look at get_container_logs for why.',
  })
}
