import { type Clock, sleep } from '../../../kit/clock.ts'
import type { Cluster, Pod, Workload, WorkloadName } from '../../../kit/kubernetes/cluster.ts'
import { UpstreamFailure } from '../../../kit/upstream/failure.ts'
import type { Backend, BackendState } from '../../game.ts'
import { MISSING } from '../state.ts'

/** Milliseconds between two polls of pods that end. */
const STEP = 500
/** Seconds beyond the grace period that the cluster gets to remove pods. */
const SLACK_SECONDS = 30
const BROKEN = /crash|error|oom|backoff|invalid|failed/i

/**
 * Creates the backend of a Deployment or StatefulSet of one replica: 0 is stopped, 1 is running. `open`
 * returns its cluster, and throws if there is none now.
 */
export function createKubernetesBackend(name: WorkloadName, open: () => Cluster, clock: Clock): Backend {
  const where = `${name.kind} ${name.namespace}/${name.name}`
  const find = async (signal?: AbortSignal): Promise<Workload> => {
    const workload = await open().workload(name, signal)
    if (workload) return workload
    throw new UpstreamFailure({
      kind: 'not_found',
      what: `There is no ${where}.`,
      where: open().address,
      why: 'the cluster knows no such workload in that namespace',
      fix: 'Check deployment or statefulset, namespace and context in its settings.',
    })
  }
  const podsOf = async ({ namespace, selector }: Workload, signal?: AbortSignal) =>
    open().pods({ namespace, selector }, signal)
  const stop = async (graceSeconds: number, signal?: AbortSignal): Promise<boolean> => {
    const workload = await find(signal)
    if (workload.replicas === 0) return false
    await open().scale(name, 0, signal)
    const end = clock.monotonic() + (graceSeconds + SLACK_SECONDS) * 1000
    while ((await podsOf(workload, signal)).length > 0) {
      if (clock.monotonic() >= end) throw explainStuck(where)
      await sleep(clock, STEP, signal)
    }
    return true
  }
  return {
    kind: 'kubernetes',
    where,
    async state(signal) {
      const workload = await open().workload(name, signal)
      if (!workload) return { ...MISSING, detail: 'the cluster knows no such workload' }
      return toState(workload, await podsOf(workload, signal))
    },
    async start(signal) {
      if ((await find(signal)).replicas > 0) return false
      await open().scale(name, 1, signal)
      return true
    },
    stop,
    // A restart is not a rollout: its new pod would start while the old one still uses the world's files.
    async restart(graceSeconds, signal) {
      const { replicas } = await find(signal)
      await stop(graceSeconds, signal)
      await open().scale(name, Math.max(1, replicas), signal)
    },
    async logs(lines, signal) {
      const pod = newest(await podsOf(await find(signal), signal))
      return pod === undefined ? [] : open().logs(pod, { tail: lines }, signal)
    },
    async use(signal) {
      const [pods, use] = await Promise.all([
        find(signal).then(workload => podsOf(workload, signal)),
        open().use(name.namespace, signal),
      ])
      const uses = pods.flatMap(pod => use?.get(`${pod.namespace}/${pod.name}`) ?? [])
      return uses.length === 0
        ? undefined
        : uses.reduce((sum, one) => ({
            cpuPercent: sum.cpuPercent + one.cpuPercent,
            memoryBytes: sum.memoryBytes + one.memoryBytes,
          }))
    },
  }
}

function newest(pods: readonly Pod[]): Pod | undefined {
  return [...pods].sort((a, b) => (b.startedAt ?? 0) - (a.startedAt ?? 0))[0]
}

function toState(workload: Workload, pods: readonly Pod[]): BackendState {
  const pod = newest(pods)
  const restarts = pods.reduce((sum, { restarts }) => sum + restarts, 0)
  if (workload.replicas === 0) {
    const detail = pods.length > 0 ? `scaled to 0, ${pods.length} still ending` : 'scaled to 0'
    return { ...MISSING, state: 'stopped', detail, restarts }
  }
  const status = pod?.status ?? 'no pod yet'
  const ready = workload.ready > 0
  return {
    ...MISSING,
    exitCode: ready ? undefined : pod?.exitCode,
    state: ready ? 'running' : BROKEN.test(status) ? 'failed' : 'starting',
    detail: `${status}, ${workload.ready} of ${workload.replicas} ready`,
    startedAt: pod?.startedAt,
    oom: /oomkilled/i.test(status),
    restarts,
  }
}

function explainStuck(where: string): UpstreamFailure {
  return new UpstreamFailure({
    kind: 'timeout',
    what: `The pods of ${where} do not end.`,
    where,
    why: 'it is scaled to 0, but a pod is still there',
    fix: 'Look at it with kubectl describe pod: a finalizer or a lost node holds such pods.',
  })
}
