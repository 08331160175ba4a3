import type { z } from 'zod'
import { type Clock, toIsoTime } from '../clock.ts'
import { cleanText } from '../text.ts'
import { UpstreamFailure } from '../upstream/failure.ts'
import type { Cluster, Workload, WorkloadName } from './cluster.ts'
import { createDial, type Dial } from './dial.ts'
import {
  kubeVersionAnswer,
  podAnswer,
  podListAnswer,
  useAnswer,
  workloadAnswer,
  workloadListAnswer,
} from './kube-answers.ts'
import { type KubeConnection, type KubePlace, kubeConnect } from './kube-connect.ts'
import { explainKubeAnswer, explainKubeError } from './kube-explain.ts'
import { readLogLines } from './log-lines.ts'

/** Milliseconds of one request. */
const LIMIT = 15_000
/** Items of one page; the next page is requested with the answer's continue token. */
const PAGE = 500
const MAX_PAGES = 20
const KINDS = { deployment: 'deployments', statefulset: 'statefulsets' } as const

export interface ClusterOptions extends Partial<KubePlace> {
  /** "kubernetes", or the name of its context. */
  name: string
  clock: Clock
}

/**
 * Opens the API of a cluster, with the credentials of a kubeconfig's context, or of the pod that this runs
 * in. It loads and connects at the first call, and nothing has to be closed.
 */
export function openCluster(options: ClusterOptions): Cluster {
  const { name, kubeconfig, context, clock } = options
  let connection: KubeConnection | undefined
  const toAddress = () => connection?.address ?? kubeconfig ?? 'the cluster of this pod'
  const dial = createDial({
    title: name === 'kubernetes' ? 'Kubernetes' : `Kubernetes "${name}"`,
    api: 'the API of Kubernetes',
    address: toAddress,
    clock,
    explainAnswer: explainKubeAnswer,
    explainError: explainKubeError,
    open: async () => {
      connection = await kubeConnect({ kubeconfig, context })
      return connection.send
    },
  })
  return {
    name,
    get address() {
      return toAddress()
    },
    version: async signal =>
      cleanText(await dial.json('/version', kubeVersionAnswer, { limit: LIMIT, signal }), 60),
    pods: ({ namespace, selector }, signal) =>
      readAll(dial, toPath('/api/v1', namespace, 'pods'), podListAnswer, { selector, signal }),
    use: async (namespace, signal) => {
      const path = toPath('/apis/metrics.k8s.io/v1beta1', namespace, 'pods')
      return await unlessMissing(dial.json(path, useAnswer, { limit: LIMIT, signal }))
    },
    logs: (pod, { tail }, signal) => readLogs(dial, pod, tail, signal),
    ...openWorkloads(dial, clock),
    deletePod: async (pod, signal) => {
      await dial.text(toPodPath(pod), { method: 'DELETE', limit: LIMIT, signal })
    },
  }
}

function openWorkloads(
  dial: Dial,
  clock: Clock,
): Pick<Cluster, 'workloads' | 'workload' | 'scale' | 'restart'> {
  const list = (kind: Workload['kind'], namespace: string | undefined, given: ListOptions) =>
    readAll(dial, toPath('/apis/apps/v1', namespace, KINDS[kind]), workloadListAnswer(kind), given)
  const patch = async (path: string, change: unknown, signal: AbortSignal | undefined) => {
    const headers = { 'content-type': 'application/merge-patch+json' }
    const body = JSON.stringify(change)
    await dial.text(path, { method: 'PATCH', headers, body, limit: LIMIT, signal })
  }
  return {
    workloads: async ({ namespace, selector }, signal) => {
      const kinds = ['deployment', 'statefulset'] as const
      return (await Promise.all(kinds.map(kind => list(kind, namespace, { selector, signal })))).flat()
    },
    workload: (name, signal) =>
      unlessMissing(dial.json(toWorkloadPath(name), workloadAnswer(name.kind), { limit: LIMIT, signal })),
    scale: (name, replicas, signal) => patch(`${toWorkloadPath(name)}/scale`, { spec: { replicas } }, signal),
    restart: (name, signal) => {
      const annotations = { 'kubectl.kubernetes.io/restartedAt': toIsoTime(clock.now()) }
      return patch(toWorkloadPath(name), { spec: { template: { metadata: { annotations } } } }, signal)
    },
  }
}

interface ListOptions {
  selector: string | undefined
  signal: AbortSignal | undefined
}

async function readAll<Item>(
  dial: Dial,
  path: string,
  schema: z.ZodType<{ metadata?: string | undefined; items: Item[] }>,
  { selector, signal }: ListOptions,
): Promise<Item[]> {
  const all: Item[] = []
  const only = selector === undefined ? {} : { labelSelector: selector }
  let next: string | undefined
  for (let pages = 0; pages === 0 || (next !== undefined && pages < MAX_PAGES); pages++) {
    const query = { ...only, limit: PAGE, ...(next === undefined ? {} : { continue: next }) }
    const found = await dial.json(path, schema, { query, limit: LIMIT, signal })
    all.push(...found.items)
    next = found.metadata
  }
  return all
}

async function readLogs(
  dial: Dial,
  pod: { namespace: string; name: string },
  tail: number,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const path = toPodPath(pod)
  const { container } = await dial.json(path, podAnswer, { limit: LIMIT, signal })
  const query = { tailLines: tail, ...(container === undefined ? {} : { container }) }
  return await dial.stream(`${path}/log`, { query, limit: LIMIT, signal }, body =>
    readLogLines(body, { framed: false, tail }),
  )
}

async function unlessMissing<Value>(work: Promise<Value>): Promise<Value | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof UpstreamFailure && error.kind === 'not_found') return undefined
    throw error
  }
}

function toPath(api: string, namespace: string | undefined, resource: string): string {
  return namespace === undefined
    ? `${api}/${resource}`
    : `${api}/namespaces/${encodeURIComponent(namespace)}/${resource}`
}

function toPodPath({ namespace, name }: { namespace: string; name: string }): string {
  return `${toPath('/api/v1', namespace, 'pods')}/${encodeURIComponent(name)}`
}

function toWorkloadPath({ kind, namespace, name }: WorkloadName): string {
  return `${toPath('/apis/apps/v1', namespace, KINDS[kind])}/${encodeURIComponent(name)}`
}
