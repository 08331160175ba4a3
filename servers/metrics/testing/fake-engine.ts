import type { ContainerDetails, ContainerEvent, Engine, LogsOptions } from '../../kit/docker/engine.ts'
import type { Cluster, Pod, Workload } from '../../kit/kubernetes/cluster.ts'

/** An engine in memory that records its requests. */
export interface FakeEngine extends Engine {
  /** Containers by name; tests change them. */
  readonly containers: Map<string, ContainerDetails>
  readonly asked: string[]
  /** Sends an event to the followers. */
  happen(event: Partial<ContainerEvent>): void
  /** Number of followers. */
  readonly followers: number
  /** Makes every call fail with the error, and ends the followers' streams; undefined makes it work again. */
  fail(error: Error | undefined): void
}

export function fakeContainer(name: string, more: Partial<ContainerDetails> = {}): ContainerDetails {
  return {
    id: Buffer.from(name).toString('hex').padEnd(64, '0'),
    name,
    image: `${name}:latest`,
    state: 'running',
    labels: {},
    health: undefined,
    healthOutput: undefined,
    restarts: 0,
    exitCode: undefined,
    oom: false,
    error: undefined,
    startedAt: 0,
    finishedAt: undefined,
    ...more,
  }
}

export function createFakeEngine(name: string, containers: readonly ContainerDetails[]): FakeEngine {
  const byName = new Map(containers.map(one => [one.name, one]))
  const asked: string[] = []
  const following = new Set<{ onEvent: (event: ContainerEvent) => void; end: (error: Error) => void }>()
  let failure: Error | undefined
  const find = (id: string) => [...byName.values()].find(one => one.id === id || one.name === id)
  const answer = async <Value>(call: string, value: () => Value): Promise<Value> => {
    asked.push(call)
    if (failure) throw failure
    return value()
  }
  return {
    name,
    address: `/run/${name}.sock`,
    containers: byName,
    asked,
    get followers() {
      return following.size
    },
    happen(event) {
      const whole = {
        kind: 'start',
        id: '',
        name: '',
        exitCode: undefined,
        health: undefined,
        at: 0,
      } as const
      for (const { onEvent } of following) onEvent({ ...whole, ...event })
    },
    fail(error) {
      failure = error
      if (error) for (const { end } of following) end(error)
    },
    version: () => answer('version', () => 'Docker 20.10.24'),
    list: () => answer('list', () => [...byName.values()]),
    inspect: id => answer(`inspect ${find(id)?.name}`, () => find(id)),
    use: id =>
      answer(`use ${find(id)?.name}`, () => ({
        cpuPercent: 150.26,
        memoryBytes: 300 * 2 ** 20,
        memoryLimitBytes: 2 ** 31,
      })),
    logs: (id, options: LogsOptions) =>
      answer(`logs ${find(id)?.name} ${JSON.stringify(options)}`, () =>
        Array.from({ length: Math.min(options.tail, 6) }, (_, index) => `line ${index}\u001b[0m`),
      ),
    start: id => answer(`start ${id}`, () => true),
    stop: id => answer(`stop ${id}`, () => true),
    restart: (id, grace) => answer(`restart ${find(id)?.name} ${grace}`, () => undefined),
    async follow(onEvent, signal, ready) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      if (failure) throw failure
      const one = { onEvent, end: reject }
      following.add(one)
      signal.addEventListener('abort', () => resolve(), { once: true })
      ready()
      await promise.finally(() => following.delete(one))
    },
  }
}

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
