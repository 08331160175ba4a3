import type { ContainerDetails, ContainerUse, Engine } from '../../kit/docker/engine.ts'
import type { Pod } from '../../kit/kubernetes/cluster.ts'
import type { Target } from './targets.ts'

/** Most requests to an engine at once: an engine answers each in a thread of its own. */
const AT_ONCE = 8
/** Most measurements of use at once: each takes a second and costs little. */
const USES_AT_ONCE = 16

/** Status of a container or a pod. Times are unix milliseconds; names and outputs are foreign text. */
export interface Status {
  readonly target: Target
  /** "running", "exited"; for a pod "Running" or the reason why it is not. */
  readonly state: string
  readonly health: ContainerDetails['health']
  readonly healthOutput: string | undefined
  readonly restarts: number
  readonly startedAt: number | undefined
  readonly exitCode: number | undefined
  readonly oom: boolean
  /** Problem in words; undefined if there is none. */
  readonly problem: string | undefined
}

export type Use = Pick<ContainerUse, 'cpuPercent' | 'memoryBytes'> & { memoryLimitBytes?: number | undefined }

/** Reads the status of each target, in their order; one that is gone meanwhile is omitted. */
export async function readStatuses(targets: readonly Target[], signal?: AbortSignal): Promise<Status[]> {
  const found = await mapBounded(targets, AT_ONCE, async target => {
    if (target.kind === 'pod') return fromPod(target, target.pod)
    const details = await target.source.inspect(target.container.id, signal)
    return details && fromContainer(target, details)
  })
  return found.filter(status => status !== undefined)
}

function fromContainer(target: Target, details: ContainerDetails): Status {
  const { state, health, healthOutput, restarts, startedAt, exitCode, oom } = details
  const problem = decideContainerProblem(details)
  return { target, state, health, healthOutput, restarts, startedAt, exitCode, oom, problem }
}

function fromPod(target: Target, pod: Pod): Status {
  const { status, restarts, startedAt } = pod
  const none = { health: undefined, healthOutput: undefined, oom: false }
  const { exitCode } = pod.ready ? { exitCode: undefined } : pod
  return { target, state: status, ...none, exitCode, restarts, startedAt, problem: decidePodProblem(pod) }
}

/** Exit codes of requested ends, also if `docker stop` had to kill the program: they are no problem. */
const ASKED_TO_END = new Set([0, 130, 137, 143])

/** Decides a container's problem, in words. */
export function decideContainerProblem(details: ContainerDetails): string | undefined {
  const { state, health, exitCode, oom } = details
  if (state === 'restarting') return `restarting again and again${toLastEnd(details)}`
  if (state === 'dead') return 'dead: its engine could not remove it'
  if (state === 'running') return health === 'unhealthy' ? 'unhealthy' : undefined
  if (state !== 'exited') return undefined
  if (oom) return 'ended for using too much memory'
  return exitCode !== undefined && !ASKED_TO_END.has(exitCode) ? `ended with code ${exitCode}` : undefined
}

/** Returns ", it ended with code 1 the last time". */
function toLastEnd({ exitCode, oom = false }: { exitCode?: number | undefined; oom?: boolean }): string {
  if (oom) return ', it ended for using too much memory the last time'
  return exitCode === undefined ? '' : `, it ended with code ${exitCode} the last time`
}

/** Decides a pod's problem, in words. */
export function decidePodProblem({ status, ready, exitCode }: Pod): string | undefined {
  if (ready || /^(Succeeded|Completed)$/.test(status)) return undefined
  return `${status === 'Running' ? 'not ready' : status}${toLastEnd({ exitCode })}`
}

/** Reads the use of the running targets, by target; those without figures are omitted. */
export async function readUses(
  statuses: readonly Status[],
  signal: AbortSignal,
): Promise<ReadonlyMap<Target, Use>> {
  const uses = new Map<Target, Use>()
  const clusters = new Map(
    statuses.flatMap(({ target }) => (target.kind === 'pod' ? [[target.source, target] as const] : [])),
  )
  const ofClusters = [...clusters.keys()].map(async cluster => {
    const used = await quietly(cluster.use(undefined, signal), signal)
    for (const { target } of statuses) {
      const use = target.source === cluster ? used?.get(target.name) : undefined
      if (use) uses.set(target, use)
    }
  })
  const running = statuses.filter(({ state, target }) => target.kind === 'container' && state === 'running')
  const ofEngines = mapBounded(running, USES_AT_ONCE, async ({ target }) => {
    if (target.kind !== 'container') return
    const use = await quietly((target.source as Engine).use(target.container.id, signal), signal)
    if (use) uses.set(target, use)
  })
  await Promise.all([...ofClusters, ofEngines])
  return uses
}

/** Ignores a failure: a container that ended meanwhile, or has no figures, must not fail the whole. */
async function quietly<Value>(asked: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  return asked.catch(() => {
    signal.throwIfAborted()
    return undefined
  })
}

/**
 * Returns the results of `work` on each item in their order, with at most `most` at once. Rejects with the
 * first failure.
 */
export async function mapBounded<Item, Result>(
  items: readonly Item[],
  most: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const queue = items.entries()
  const run = async () => {
    for (const [index, item] of queue) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, run))
  return results
}
