import type { z } from 'zod'
import { type Clock, toIsoTime } from '../clock.ts'
import { readLogLines } from '../docker/log-lines.ts'
import { cleanText } from '../text.ts'
import { UpstreamFailure } from '../upstream/failure.ts'
import { type Client, createClient } from '../upstream/upstream.ts'
import { type Account, readAccount } from './account.ts'
import {
  kubeVersionAnswer,
  podAnswer,
  podListAnswer,
  useAnswer,
  workloadAnswer,
  workloadListAnswer,
} from './answers.ts'
import type { Cluster, WorkloadName } from './cluster.ts'
import { explain } from './explain.ts'

/** Milliseconds of one request. */
const LIMIT = 15_000
const MAX_BYTES = 16 * 1024 * 1024
/** Items of one page; the next page is requested with the answer's continue token. */
const PAGE = 500
const MAX_PAGES = 20
const KINDS = { deployment: 'deployments', statefulset: 'statefulsets' } as const

export interface ClusterOptions {
  /** "kubernetes", or the name of its context. */
  name: string
  /** Paths between colons; undefined inside a pod, whose account is used then. */
  kubeconfig?: string | undefined
  /** Name of the context; undefined for the current one. */
  context?: string | undefined
  clock: Clock
}

/**
 * Opens the API of a cluster, with the credentials of a kubeconfig's context, or of the pod that this runs
 * in. It reads the kubeconfig and connects at the first call, and nothing has to be closed.
 */
export function openCluster(options: ClusterOptions): Cluster {
  const { name, kubeconfig, context, clock } = options
  let account: Account | undefined
  const toAddress = () => account?.url ?? kubeconfig ?? 'the cluster of this pod'
  const client = createClient({
    title: name === 'kubernetes' ? 'Kubernetes' : `Kubernetes "${name}"`,
    address: toAddress,
    open: async () => {
      account ??= await readAccount({ kubeconfig, context, clock })
      return await account.logIn()
    },
    settings: { url: 'the server in the kubeconfig', key: 'the user in the kubeconfig' },
    redact: text => text,
    clock,
    limit: LIMIT,
    maxBytes: MAX_BYTES,
    retries: false,
    explain,
  })
  return {
    name,
    get address() {
      return toAddress()
    },
    version: async signal =>
      cleanText(await client.get('/version', { schema: kubeVersionAnswer, signal }), 60),
    pods: ({ namespace, selector }, signal) =>
      readAll(client, toPath('/api/v1', namespace, 'pods'), podListAnswer, { selector, signal }),
    use: (namespace, signal) => {
      const path = toPath('/apis/metrics.k8s.io/v1beta1', namespace, 'pods')
      return unlessMissing(client.get(path, { schema: useAnswer, signal }))
    },
    async logs(pod, { tail }, signal) {
      const path = toPodPath(pod)
      const { container } = await client.get(path, { schema: podAnswer, signal })
      return client.stream(`${path}/log`, { query: { tailLines: tail, container }, signal }, body =>
        readLogLines(body, { framed: false, tail }),
      )
    },
    ...openWorkloads(client, clock),
    deletePod: (pod, signal) => client.send('DELETE', toPodPath(pod), { signal }),
  }
}

function openWorkloads(
  client: Client,
  clock: Clock,
): Pick<Cluster, 'workloads' | 'workload' | 'scale' | 'restart'> {
  const patch = (path: string, change: unknown, signal: AbortSignal | undefined) => {
    const body = { text: JSON.stringify(change), type: 'application/merge-patch+json' }
    return client.send('PATCH', path, { body, signal })
  }
  return {
    workloads: async ({ namespace, selector }, signal) => {
      const lists = (['deployment', 'statefulset'] as const).map(kind => {
        const path = toPath('/apis/apps/v1', namespace, KINDS[kind])
        return readAll(client, path, workloadListAnswer(kind), { selector, signal })
      })
      return (await Promise.all(lists)).flat()
    },
    workload: (name, signal) =>
      unlessMissing(client.get(toWorkloadPath(name), { schema: workloadAnswer(name.kind), signal })),
    scale: (name, replicas, signal) => patch(`${toWorkloadPath(name)}/scale`, { spec: { replicas } }, signal),
    restart: (name, signal) => {
      const annotations = { 'kubectl.kubernetes.io/restartedAt': toIsoTime(clock.now()) }
      return patch(toWorkloadPath(name), { spec: { template: { metadata: { annotations } } } }, signal)
    },
  }
}

async function readAll<Item>(
  client: Client,
  path: string,
  schema: z.ZodType<{ metadata?: string | undefined; items: Item[] }>,
  { selector, signal }: { selector: string | undefined; signal: AbortSignal | undefined },
): Promise<Item[]> {
  const all: Item[] = []
  let next: string | undefined
  for (let pages = 0; pages === 0 || (next !== undefined && pages < MAX_PAGES); pages++) {
    const query = { labelSelector: selector, limit: PAGE, continue: next }
    const found = await client.get(path, { schema, query, signal })
    all.push(...found.items)
    next = found.metadata
  }
  return all
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
