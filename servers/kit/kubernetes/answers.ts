import { z } from 'zod'
import { parseTime } from '../clock.ts'
import type { Pod, PodUse, Workload } from './cluster.ts'
import { toQuantity } from './quantity.ts'

const labels = z
  .record(z.string(), z.string())
  .nullish()
  .transform(found => found ?? {})
const metadata = z.object({
  name: z.string(),
  namespace: z.string(),
  labels,
  annotations: labels,
  deletionTimestamp: z.string().nullish(),
})

const container = z.object({
  ready: z.boolean().nullish(),
  started: z.boolean().nullish(),
  restartCount: z.number().nullish(),
  state: z
    .object({
      running: z.object({}).nullish(),
      waiting: z.object({ reason: z.string().nullish() }).nullish(),
      terminated: z
        .object({
          reason: z.string().nullish(),
          exitCode: z.number().nullish(),
          signal: z.number().nullish(),
        })
        .nullish(),
    })
    .nullish(),
  lastState: z.object({ terminated: z.object({ exitCode: z.number().nullish() }).nullish() }).nullish(),
})
type ContainerStatus = z.output<typeof container>
const statuses = z
  .array(container)
  .nullish()
  .transform(found => found ?? [])

const rawPod = z.object({
  metadata,
  spec: z.object({
    nodeName: z.string().nullish(),
    containers: z.array(z.object({ name: z.string() })),
    initContainers: z.array(z.object({ restartPolicy: z.string().nullish() })).nullish(),
  }),
  status: z.object({
    phase: z.string().nullish(),
    reason: z.string().nullish(),
    startTime: z.string().nullish(),
    conditions: z.array(z.object({ type: z.string(), status: z.string() })).nullish(),
    containerStatuses: statuses,
    initContainerStatuses: statuses,
  }),
})
type RawPod = z.output<typeof rawPod>

/** A pod, with the container whose log is read by default. */
export const podAnswer = rawPod.transform(raw => ({ pod: toPod(raw), container: toMainContainer(raw) }))
const page = z
  .object({ continue: z.string().nullish() })
  .nullish()
  .transform(found => found?.continue || undefined)
export const podListAnswer = z.object({ metadata: page, items: z.array(rawPod.transform(toPod)) })

function toPod(raw: RawPod): Pod {
  const { metadata: about, spec, status } = raw
  return {
    namespace: about.namespace,
    name: about.name,
    status: toStatus(raw),
    ready: status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false,
    restarts: status.containerStatuses.reduce((sum, { restartCount }) => sum + (restartCount ?? 0), 0),
    exitCode: toLastExitCode(status.containerStatuses),
    node: spec.nodeName ?? undefined,
    startedAt: parseTime(status.startTime),
    labels: about.labels,
  }
}

/** Returns the exit code of the container with the most restarts: of its end now, or else of its last one. */
function toLastExitCode(containers: readonly ContainerStatus[]): number | undefined {
  const most = [...containers].sort((a, b) => (b.restartCount ?? 0) - (a.restartCount ?? 0))[0]
  return (most?.state?.terminated ?? most?.lastState?.terminated)?.exitCode ?? undefined
}

/** Returns the container that kubectl would choose: the annotated one, else the first. */
function toMainContainer({ metadata: { annotations }, spec }: RawPod): string | undefined {
  const named = annotations['kubectl.kubernetes.io/default-container']
  return spec.containers.find(({ name }) => name === named)?.name ?? spec.containers[0]?.name
}

/**
 * Returns the text of the column STATUS of `kubectl get pods` (printPod in
 * kubernetes/pkg/printers/internalversion).
 */
function toStatus(raw: RawPod): string {
  const { metadata: about, status } = raw
  if (about.deletionTimestamp) return 'Terminating'
  const starting = toInitStatus(raw)
  if (starting !== undefined) return starting
  const reason = status.containerStatuses.map(toContainerReason).find(found => found !== undefined)
  const running = status.containerStatuses.some(({ ready, state }) => ready && state?.running)
  if (reason === 'Completed' && running) return 'Running'
  return reason ?? status.reason ?? status.phase ?? 'Unknown'
}

/**
 * Returns the status of the first init container that is not done; undefined if all are done or are running
 * sidecars.
 */
function toInitStatus({ spec, status }: RawPod): string | undefined {
  const all = status.initContainerStatuses
  const at = all.findIndex(({ state, started }, index) => {
    const sidecar = spec.initContainers?.[index]?.restartPolicy === 'Always'
    return state?.terminated?.exitCode !== 0 && !(sidecar && started)
  })
  const current = all[at]
  if (current === undefined) return undefined
  const reason = toContainerReason(current)
  return reason === undefined || reason === 'PodInitializing' ? `Init:${at}/${all.length}` : `Init:${reason}`
}

function toContainerReason({ state }: ContainerStatus): string | undefined {
  if (state?.waiting?.reason) return state.waiting.reason
  const ended = state?.terminated
  if (!ended) return undefined
  return ended.reason || (ended.signal ? `Signal:${ended.signal}` : `ExitCode:${ended.exitCode ?? 0}`)
}

const selector = z.object({
  matchLabels: labels,
  matchExpressions: z
    .array(z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()).nullish() }))
    .nullish(),
})
const rawWorkload = z.object({
  metadata,
  spec: z.object({ replicas: z.number().nullish(), selector }),
  status: z.object({ readyReplicas: z.number().nullish() }).nullish(),
})

export const workloadAnswer = (kind: Workload['kind']) =>
  rawWorkload.transform(
    ({ metadata: about, spec, status }): Workload => ({
      kind,
      namespace: about.namespace,
      name: about.name,
      replicas: spec.replicas ?? 0,
      ready: status?.readyReplicas ?? 0,
      labels: about.labels,
      selector: toSelector(spec.selector),
    }),
  )
export const workloadListAnswer = (kind: Workload['kind']) =>
  z.object({ metadata: page, items: z.array(workloadAnswer(kind)) })

function toSelector({ matchLabels, matchExpressions }: z.output<typeof selector>): string {
  const equal = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`)
  const rest = (matchExpressions ?? []).map(({ key, operator, values }) => {
    if (operator === 'Exists') return key
    if (operator === 'DoesNotExist') return `!${key}`
    return `${key} ${operator === 'NotIn' ? 'notin' : 'in'} (${(values ?? []).join(',')})`
  })
  return [...equal, ...rest].join(',')
}

/** GET /version. */
export const kubeVersionAnswer = z
  .object({ gitVersion: z.string() })
  .transform(({ gitVersion }) => `Kubernetes ${gitVersion.replace(/^v/, '')}`)

/** GET of metrics.k8s.io: the use of pods by namespace/name. */
export const useAnswer = z
  .object({
    items: z.array(
      z.object({
        metadata: z.object({ name: z.string(), namespace: z.string() }),
        containers: z.array(z.object({ usage: z.object({ cpu: z.string(), memory: z.string() }) })),
      }),
    ),
  })
  .transform(
    ({ items }) =>
      new Map(items.map(item => [`${item.metadata.namespace}/${item.metadata.name}`, toUse(item)])),
  )

function toUse({ containers }: { containers: { usage: { cpu: string; memory: string } }[] }): PodUse {
  const sum = (of: 'cpu' | 'memory') =>
    containers.reduce((total, { usage }) => total + (toQuantity(usage[of]) ?? 0), 0)
  return { cpuPercent: sum('cpu') * 100, memoryBytes: sum('memory') }
}
