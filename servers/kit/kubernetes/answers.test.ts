import { expect, test } from 'vitest'
import { podAnswer, useAnswer, workloadAnswer } from './answers.ts'

const running = { ready: true, restartCount: 1, state: { running: { startedAt: '2026-11-22T05:10:14Z' } } }
const waiting = (reason?: string) => ({ ready: false, restartCount: 4, state: { waiting: { reason } } })
const ended = (terminated: object) => ({ ready: false, restartCount: 0, state: { terminated } })

function read(status: object, more: { metadata?: object; spec?: object } = {}) {
  return podAnswer.parse({
    metadata: { name: 'quake-1', namespace: 'games', ...more.metadata },
    spec: { containers: [{ name: 'quake' }, { name: 'log' }], ...more.spec },
    status: { phase: 'Running', ...status },
  })
}
const init = (...initContainerStatuses: object[]) => ({ phase: 'Pending', initContainerStatuses })

test.each([
  ['Running', { containerStatuses: [running, running] }],
  ['Pending', { phase: 'Pending' }],
  ['Unknown', { phase: null }],
  ['Evicted', { phase: 'Failed', reason: 'Evicted' }],
  ['CrashLoopBackOff', { containerStatuses: [running, waiting('CrashLoopBackOff')] }],
  ['ImagePullBackOff', { phase: 'Pending', containerStatuses: [waiting('ImagePullBackOff')] }],
  ['ContainerCreating', { phase: 'Pending', containerStatuses: [waiting('ContainerCreating')] }],
  ['OOMKilled', { containerStatuses: [ended({ reason: 'OOMKilled', exitCode: 137 })] }],
  ['Signal:9', { containerStatuses: [ended({ signal: 9, exitCode: 137 })] }],
  ['ExitCode:3', { containerStatuses: [ended({ exitCode: 3 })] }],
  ['Running', { containerStatuses: [ended({ reason: 'Completed', exitCode: 0 }), running] }],
  ['Completed', { phase: 'Succeeded', containerStatuses: [ended({ reason: 'Completed', exitCode: 0 })] }],
  ['Init:1/2', init(ended({ exitCode: 0 }), waiting('PodInitializing'))],
  ['Init:0/1', init(running)],
  ['Init:CrashLoopBackOff', init(waiting('CrashLoopBackOff'))],
  ['Init:Error', init(ended({ reason: 'Error', exitCode: 1 }))],
])('a pod that is %s', (expected, status) => {
  expect(read(status).pod.status).toBe(expected)
})

test('a pod on its way out, and one with a sidecar', () => {
  const metadata = { deletionTimestamp: '2026-11-22T05:10:14Z' }
  expect(read({ containerStatuses: [running] }, { metadata }).pod.status).toBe('Terminating')
  const spec = { initContainers: [{ restartPolicy: 'Always' }] }
  const sidecar = { ...running, started: true }
  const status = { initContainerStatuses: [sidecar], containerStatuses: [running] }
  expect(read(status, { spec }).pod.status).toBe('Running')
})

test('the rest of a pod, and which log is meant', () => {
  const conditions = [{ type: 'Ready', status: 'True' }]
  const status = { conditions, containerStatuses: [running, running], startTime: '2026-11-22T05:10:14Z' }
  const found = read(status, { spec: { containers: [{ name: 'quake' }], nodeName: 'nas' } })
  expect(found).toEqual({
    container: 'quake',
    pod: {
      namespace: 'games',
      name: 'quake-1',
      status: 'Running',
      ready: true,
      restarts: 2,
      node: 'nas',
      startedAt: 1_795_324_214_000,
      labels: {},
    },
  })
  const annotations = { 'kubectl.kubernetes.io/default-container': 'log' }
  expect(read({}, { metadata: { annotations } }).container).toBe('log')
})

test('what pods use, of all their containers together', () => {
  const usage = (cpu: string, memory: string) => ({ name: 'x', usage: { cpu, memory } })
  const found = useAnswer.parse({
    kind: 'PodMetricsList',
    items: [
      {
        metadata: { name: 'quake-1', namespace: 'games' },
        timestamp: '2026-11-22T05:10:14Z',
        window: '10.5s',
        containers: [usage('250m', '64Mi'), usage('1250000000n', '1024Ki')],
      },
    ],
  })
  expect([...found]).toEqual([['games/quake-1', { cpuPercent: 150, memoryBytes: 65 * 1024 * 1024 }]])
})

test('a workload without replicas has none, and every kind of selector', () => {
  const matchExpressions = [
    { key: 'tier', operator: 'In', values: ['a', 'b'] },
    { key: 'env', operator: 'NotIn', values: ['test'] },
    { key: 'game', operator: 'Exists' },
    { key: 'old', operator: 'DoesNotExist' },
  ]
  const raw = {
    metadata: { name: 'quake', namespace: 'games', labels: null },
    spec: { selector: { matchLabels: { app: 'quake' }, matchExpressions } },
  }
  expect(workloadAnswer('deployment').parse(raw)).toEqual({
    kind: 'deployment',
    namespace: 'games',
    name: 'quake',
    replicas: 0,
    ready: 0,
    labels: {},
    selector: 'app=quake,tier in (a,b),env notin (test),game,!old',
  })
})
