import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../servers/kit/clock.ts'
import { openCluster } from '../../servers/kit/kubernetes/kubernetes.ts'
import { until } from '../support/until.ts'
import { type Kubernetes, startKubernetes } from './setup/kubernetes.ts'
import { BUILD_LIMIT } from './setup/kubernetes-build.ts'

let lab: Kubernetes
beforeAll(async () => {
  lab = await startKubernetes()
}, BUILD_LIMIT)
afterAll(() => lab?.[Symbol.asyncDispose]())

const open = (context?: string) =>
  openCluster({ name: 'kubernetes', kubeconfig: lab.kubeconfig, context, clock: systemClock })

function template(app: string, image: string, command: string) {
  const container = { name: app, image, imagePullPolicy: 'Never', command: ['sh', '-c', command] }
  const spec = {
    hostNetwork: true,
    terminationGracePeriodSeconds: 1,
    automountServiceAccountToken: false,
    containers: [container],
  }
  return { metadata: { labels: { app } }, spec }
}

async function deploy(
  app: string,
  command: string,
  { kind = 'Deployment', image = 'lab/busybox:latest', replicas = 1 } = {},
): Promise<void> {
  const selector = { matchLabels: { app } }
  await lab.api('POST', `/apis/apps/v1/namespaces/default/${kind.toLowerCase()}s`, {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: app, labels: { app, lab: 'yes' } },
    spec: { replicas, selector, serviceName: app, template: template(app, image, command) },
  })
}

const FOREVER = 'echo up; echo "second line"; trap "exit 0" TERM; while :; do sleep 0.1; done'
const podOf = async (app: string) => (await open().pods({ namespace: 'default', selector: `app=${app}` }))[0]
const within = { within: 60_000 }

test('its version and its address', async () => {
  const cluster = open()
  expect(await cluster.version()).toBe('Kubernetes 1.20.2')
  expect(cluster.address).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
})

test('a workload runs, speaks, is scaled to nothing and back, and is restarted', {
  timeout: 180_000,
}, async () => {
  await deploy('quake', FOREVER)
  const cluster = open()
  const name = { kind: 'deployment', namespace: 'default', name: 'quake' } as const
  const pod = await until(
    'it runs',
    async () => {
      const found = await podOf('quake')
      return found?.ready && found
    },
    within,
  )
  expect(pod).toMatchObject({ status: 'Running', restarts: 0, node: 'localhost', labels: { app: 'quake' } })
  expect(Math.abs((pod.startedAt ?? 0) - Date.now())).toBeLessThan(120_000)
  expect((await cluster.pods({})).map(found => found.name)).toContain(pod.name)
  expect(await cluster.logs(pod, { tail: 10 })).toEqual(['up', 'second line'])
  expect(await cluster.logs(pod, { tail: 1 })).toEqual(['second line'])
  expect(await cluster.workload(name)).toEqual({
    ...name,
    replicas: 1,
    ready: 1,
    labels: { app: 'quake', lab: 'yes' },
    selector: 'app=quake',
  })

  await cluster.restart(name)
  const next = await until(
    'another pod runs',
    async () => {
      const all = await cluster.pods({ namespace: 'default', selector: 'app=quake' })
      return all.find(found => found.name !== pod.name && found.ready)
    },
    within,
  )
  await cluster.deletePod(next)
  await until(
    'a third pod runs',
    async () => {
      const all = await cluster.pods({ namespace: 'default', selector: 'app=quake' })
      return all.some(found => ![pod.name, next.name].includes(found.name) && found.ready)
    },
    within,
  )

  await cluster.scale(name, 0)
  expect(await cluster.workload(name)).toMatchObject({ replicas: 0 })
  await until('no pod is left', async () => (await podOf('quake')) === undefined, within)
  expect(await cluster.workload(name)).toMatchObject({ replicas: 0, ready: 0 })
  await cluster.scale(name, 1)
  await until('it runs again', async () => (await podOf('quake'))?.ready, within)
})

test('a stateful set, and all workloads by label', { timeout: 90_000 }, async () => {
  await deploy('world', FOREVER, { kind: 'StatefulSet' })
  const cluster = open()
  await until('it runs', async () => (await podOf('world'))?.ready, within)
  expect((await podOf('world'))?.name).toBe('world-0')
  const found = await cluster.workloads({ selector: 'app=world' })
  expect(found).toMatchObject([{ kind: 'statefulset', name: 'world', replicas: 1, ready: 1 }])
  const all = await cluster.workloads({ namespace: 'default', selector: 'lab=yes' })
  expect(all.map(({ name }) => name)).toContain('world')
})

test('what ends again and again, and what has no image, say so', { timeout: 120_000 }, async () => {
  await deploy('crashing', 'echo I fall; exit 3')
  await deploy('missing', FOREVER, { image: 'lab/nothing:1' })
  await until('it falls', async () => (await podOf('crashing'))?.status === 'CrashLoopBackOff', within)
  const pod = await podOf('crashing')
  expect(pod).toMatchObject({ ready: false })
  expect(pod?.restarts).toBeGreaterThan(0)
  expect(pod && (await open().logs(pod, { tail: 5 }))).toEqual(['I fall'])
  await until('it has no image', async () => (await podOf('missing'))?.status === 'ErrImageNeverPull', within)
  const waiting = await podOf('missing')
  await expect(waiting && open().logs(waiting, { tail: 5 })).rejects.toMatchObject({
    kind: 'refused',
    failure: { why: expect.stringContaining('ErrImageNeverPull') },
  })
})

test('there are no figures without the metrics API', async () => {
  expect(await open().use(undefined)).toBeUndefined()
  expect(await open().use('default')).toBeUndefined()
})

test('what is not there', async () => {
  const cluster = open()
  const nobody = { kind: 'deployment', namespace: 'default', name: 'nobody' } as const
  expect(await cluster.workload(nobody)).toBeUndefined()
  await expect(cluster.scale(nobody, 1)).rejects.toMatchObject({
    kind: 'not_found',
    failure: { why: expect.stringContaining('deployments.apps "nobody" not found') },
  })
  await expect(cluster.deletePod({ namespace: 'default', name: 'nobody' })).rejects.toMatchObject({
    kind: 'not_found',
  })
})

test('rights that are missing are named, and a wrong token is told from them', async () => {
  await expect(open('viewer').pods({ namespace: 'games' })).rejects.toMatchObject({
    kind: 'forbidden',
    failure: { fix: 'Give "viewer" a role with the verb "list" on "pods" in the namespace "games".' },
  })
  const name = { kind: 'statefulset', namespace: 'default', name: 'world' } as const
  await expect(open('viewer').scale(name, 0)).rejects.toMatchObject({
    failure: {
      fix: 'Give "viewer" a role with the verb "patch" on "statefulsets/scale" of the API group "apps" in the namespace "default".',
    },
  })
  await expect(open('viewer').workloads({})).rejects.toMatchObject({
    failure: { fix: expect.stringContaining('in the whole cluster') },
  })
  await expect(open('stranger').pods({})).rejects.toMatchObject({ kind: 'unauthorized' })
  await expect(open('nowhere').pods({})).rejects.toMatchObject({
    failure: { why: 'it has no context "nowhere", only "admin", "viewer", "stranger"' },
  })
})
