import type { Cluster, Pod, Workload } from '../../kit/kubernetes/cluster.ts'

export function fakePod(name: string, more: Partial<Pod> = {}): Pod {
  return {
    namespace: 'home',
    name,
    status: 'Running',
    ready: true,
    restarts: 0,
    node: 'node-1',
    startedAt: 0,
    labels: {},
    ...more,
  }
}

export function fakeWorkload(name: string, more: Partial<Workload> = {}): Workload {
  return {
    kind: 'deployment',
    namespace: 'home',
    name,
    replicas: 1,
    ready: 1,
    labels: {},
    selector: `app=${name}`,
    ...more,
  }
}

/** A cluster in memory that records its requests. */
export interface FakeCluster extends Cluster {
  readonly asked: string[]
  now: { pods: readonly Pod[]; workloads: readonly Workload[] }
}

export function createFakeCluster(now: FakeCluster['now']): FakeCluster {
  const asked: string[] = []
  const answer = async <Value>(call: string, value: () => Value): Promise<Value> => {
    asked.push(call)
    return value()
  }
  const cluster: FakeCluster = {
    name: 'k8s',
    address: 'https://k8s:6443',
    asked,
    now,
    version: () => answer('version', () => 'v1.33.0'),
    pods: () => answer('pods', () => [...cluster.now.pods]),
    use: () => answer('use', () => new Map([['home/web-1', { cpuPercent: 5, memoryBytes: 2 ** 20 }]])),
    logs: ({ namespace, name }, { tail }) =>
      answer(`logs ${namespace}/${name} ${tail}`, () => ['from the pod']),
    workloads: () => answer('workloads', () => [...cluster.now.workloads]),
    workload: ({ name }) => answer('workload', () => cluster.now.workloads.find(one => one.name === name)),
    scale: () => answer('scale', () => undefined),
    deletePod: ({ namespace, name }) => answer(`delete ${namespace}/${name}`, () => undefined),
    restart: ({ kind, name }) => answer(`restart ${kind} ${name}`, () => undefined),
  }
  return cluster
}
