import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../servers/kit/clock.ts'
import { type ServerWorld, startWorld } from '../../servers/kit/testing/server-world.ts'
import { metrics } from '../../servers/metrics/server.ts'
import { until } from '../support/until.ts'
import { type Kubernetes, startKubernetes } from './setup/kubernetes.ts'
import { BUILD_LIMIT } from './setup/kubernetes-build.ts'

/** A real Kubernetes with a Deployment that runs and one that crashes. */
let lab: Kubernetes
let world: ServerWorld
const within = { within: 90_000 }

beforeAll(async () => {
  lab = await startKubernetes()
  const environment = {
    ENGINE_URL: 'unix:///nowhere/docker.sock',
    KUBECONFIG: lab.kubeconfig,
    METRICS_INTERVAL: '1s',
  }
  world = await startWorld(metrics, { clock: systemClock, environment })
  await deploy('web', 'echo begins; trap "exit 0" TERM; while :; do sleep 0.1; done')
  await deploy('crash', 'echo no disk; exit 1')
}, BUILD_LIMIT)
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
  await lab?.[Symbol.asyncDispose]()
})

async function deploy(app: string, command: string): Promise<void> {
  const image = 'lab/busybox:latest'
  const container = { name: app, image, imagePullPolicy: 'Never', command: ['sh', '-c', command] }
  const spec = {
    hostNetwork: true,
    terminationGracePeriodSeconds: 1,
    automountServiceAccountToken: false,
    containers: [container],
  }
  await lab.api('POST', '/apis/apps/v1/namespaces/default/deployments', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: app },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app } },
      template: { metadata: { labels: { app } }, spec },
    },
  })
}

interface Shown {
  name: string
  state: string
  problem?: string
}
const shown = async (container: string) => {
  const { data } = await world.call('get_container_status', { container, engine: 'kubernetes' })
  return (data['containers'] ?? []) as Shown[]
}
const running = (other?: string) =>
  until(
    'a pod of web runs',
    async () => (await shown('web')).find(({ name, state }) => state === 'Running' && name !== other),
    within,
  )

test('pods, their logs and both ways to restart them', { timeout: 240_000 }, async () => {
  const first = await running()
  expect(first).toMatchObject({
    name: expect.stringMatching(/^default\/web-/),
    kind: 'pod',
    engine: 'kubernetes',
  })
  const logs = await world.call('get_container_logs', { container: first.name })
  expect(logs.data).toMatchObject({ lines: 'begins' })
  const deleted = await world.call('restart_container', { container: first.name })
  expect(deleted).toMatchObject({ isError: false, data: { done: true } })
  const second = await running(first.name)
  const rolled = await world.call('restart_container', { container: 'default/web' })
  expect(rolled.text).toContain('"deployment default/web" (kubernetes) are restarted one by one')
  await running(second.name)
})

test('a pod that crashes again and again is told and raised', { timeout: 240_000 }, async () => {
  const event = await until(
    'it is raised',
    () => world.events().find(({ type }) => type === 'container_unhealthy'),
    within,
  )
  expect(event.payload).toMatchObject({ name: expect.stringMatching(/^default\/crash-/) })
  expect(await shown('crash')).toMatchObject([{ problem: expect.any(String) }])
})
