import { expect, test } from 'vitest'
import type { Cluster, Pod, Workload } from '../../../kit/kubernetes/cluster.ts'
import { createFakeClock } from '../../../kit/testing/fake-clock.ts'
import { createKubernetesBackend } from './backend.ts'

const name = { kind: 'deployment', namespace: 'games', name: 'mc' } as const
const pod = (parts: Partial<Pod> = {}): Pod => ({
  namespace: 'games',
  name: 'mc-1',
  status: 'Running',
  ready: true,
  restarts: 1,
  node: 'lab',
  startedAt: 5000,
  labels: {},
  ...parts,
})

/** Opens a cluster with one workload, whose pods follow its replicas at once unless `pods` is set. */
function open(workload: Partial<Workload> | undefined, pods?: Pod[]) {
  const now = workload && {
    ...name,
    replicas: 1,
    ready: 1,
    labels: {},
    selector: 'app=mc',
    ...workload,
  }
  const scales: number[] = []
  const cluster = {
    name: 'lab',
    address: 'https://lab:6443',
    workload: async () => now,
    pods: async () => pods ?? (now && now.replicas > 0 ? [pod()] : []),
    scale: async (_name: unknown, replicas: number) => {
      scales.push(replicas)
      if (now) now.replicas = replicas
    },
    logs: async ({ name: from }: { name: string }) => [`from ${from}`],
    use: async () =>
      new Map([
        ['games/mc-1', { cpuPercent: 20, memoryBytes: 100 }],
        ['games/mc-2', { cpuPercent: 5, memoryBytes: 10 }],
        ['games/other', { cpuPercent: 90, memoryBytes: 900 }],
      ]),
  } as unknown as Cluster
  const clock = createFakeClock()
  return { backend: createKubernetesBackend(name, () => cluster, clock), scales, clock }
}

test.each([
  [{}, undefined, { state: 'running', detail: 'Running, 1 of 1 ready', restarts: 1, startedAt: 5000 }],
  [{ ready: 0 }, [], { state: 'starting', detail: 'no pod yet, 0 of 1 ready' }],
  [{ ready: 0 }, [pod({ status: 'CrashLoopBackOff' })], { state: 'failed' }],
  [{ ready: 0 }, [pod({ status: 'ImagePullBackOff' })], { state: 'failed' }],
  [{ ready: 0 }, [pod({ status: 'OOMKilled' })], { state: 'failed', oom: true }],
  [{ replicas: 0, ready: 0 }, [], { state: 'stopped', detail: 'scaled to 0' }],
  [{ replicas: 0, ready: 0 }, [pod()], { state: 'stopped', detail: 'scaled to 0, 1 still ending' }],
  [undefined, [], { state: 'missing' }],
])('workload %j with pods %j', async (workload, pods, state) => {
  expect(await open(workload, pods).backend.state()).toMatchObject(state)
})

test('start scales to 1 and stop to 0, and both say whether anything changed', async () => {
  const { backend, scales } = open({ replicas: 0 })
  expect(await backend.stop(5)).toBe(false)
  expect(await backend.start()).toBe(true)
  expect(await backend.start()).toBe(false)
  expect(await backend.stop(5)).toBe(true)
  expect(scales).toEqual([1, 0])
})

test('a restart ends the old pods before the new ones start', async () => {
  const { backend, scales } = open({ replicas: 2 })
  await backend.restart(5)
  expect(scales).toEqual([0, 2])
})

test('pods that do not end are told', async () => {
  const { backend, clock } = open({}, [pod()])
  const stopping = expect(backend.stop(5)).rejects.toMatchObject({
    kind: 'timeout',
    failure: { what: 'The pods of deployment games/mc do not end.' },
  })
  await clock.advance(60_000)
  await stopping
})

test('logs come from the newest pod, use from all of its pods', async () => {
  const { backend } = open({ replicas: 2 }, [pod(), pod({ name: 'mc-2', startedAt: 9000 })])
  expect(await backend.logs(5)).toEqual(['from mc-2'])
  expect(await backend.use()).toEqual({ cpuPercent: 25, memoryBytes: 110 })
  expect(await open({ replicas: 0 }, []).backend.logs(5)).toEqual([])
  expect(await open({ replicas: 0 }, []).backend.use()).toBeUndefined()
})

test('a workload that is not there is told', async () => {
  await expect(open(undefined).backend.start()).rejects.toMatchObject({
    kind: 'not_found',
    failure: { what: 'There is no deployment games/mc.' },
  })
})
