import type { Pod, PodUse } from '../../kit/engine/cluster.ts'
import type { ContainerDetails, ContainerUse, Engine } from '../../kit/engine/engine.ts'
import { mapBounded } from './map-bounded.ts'
import type { Target } from './targets.ts'

/** Requests to an engine at once: an engine answers each in a thread of its own. */
const AT_ONCE = 8
/** Looks at use take a second each and cost little. */
const USES_AT_ONCE = 16

/** How a container or a pod is. Times are unix milliseconds; names and outputs are of others. */
export interface Status {
  readonly target: Target
  /** "running", "exited"; of a pod "Running" or the reason why not. */
  readonly state: string
  readonly health: ContainerDetails['health']
  readonly healthOutput: string | undefined
  readonly restarts: number
  readonly startedAt: number | undefined
  readonly exitCode: number | undefined
  readonly oom: boolean
  /** What is wrong with it, in words; undefined where nothing is. */
  readonly problem: string | undefined
}

export type Use = Pick<ContainerUse, 'cpuPercent' | 'memoryBytes'> & { memoryLimitBytes?: number | undefined }

/** The status of each, in their order; one that went meanwhile is left out. */
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

/** What `docker stop` makes of a program that does not end by itself: nothing is wrong with it. */
const ASKED_TO_END = new Set([0, 130, 137, 143])

/** What is wrong with a container, in words. */
export function decideContainerProblem(details: ContainerDetails): string | undefined {
  const { state, health, exitCode, oom } = details
  if (state === 'restarting') return `restarting again and again${toLastEnd(details)}`
  if (state === 'dead') return 'dead: its engine could not remove it'
  if (state === 'running') return health === 'unhealthy' ? 'unhealthy' : undefined
  if (state !== 'exited') return undefined
  if (oom) return 'ended for using too much memory'
  return exitCode !== undefined && !ASKED_TO_END.has(exitCode) ? `ended with code ${exitCode}` : undefined
}

/** ", it ended with code 1 the last time". */
function toLastEnd({ exitCode, oom = false }: { exitCode?: number | undefined; oom?: boolean }): string {
  if (oom) return ', it ended for using too much memory the last time'
  return exitCode === undefined ? '' : `, it ended with code ${exitCode} the last time`
}

/** What is wrong with a pod, in words. */
export function decidePodProblem({ status, ready, exitCode }: Pod): string | undefined {
  if (ready || /^(Succeeded|Completed)$/.test(status)) return undefined
  return `${status === 'Running' ? 'not ready' : status}${toLastEnd({ exitCode })}`
}

/** What the running ones use, by target; those that cannot be told are left out. */
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
      if (use) uses.set(target, toUse(use))
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

function toUse({ cpuPercent, memoryBytes }: PodUse): Use {
  return { cpuPercent, memoryBytes }
}

/** What ends meanwhile, or has no figures, has no use: that is no failure of the whole. */
async function quietly<Value>(asked: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  return asked.catch(() => {
    signal.throwIfAborted()
    return undefined
  })
}
