import { afterAll, beforeAll, expect, test } from 'vitest'
import { games } from '../../servers/games/server.ts'
import { systemClock } from '../../servers/kit/clock.ts'
import { type ServerWorld, startWorld } from '../../servers/kit/testing/server-world.ts'
import { until } from '../support/until.ts'
import { type Kubernetes, startKubernetes } from './setup/kubernetes.ts'
import { BUILD_LIMIT } from './setup/kubernetes-build.ts'

let lab: Kubernetes
let world: ServerWorld

beforeAll(async () => {
  lab = await startKubernetes()
  const workload = (name: string) => ({
    [name]: { kubernetes: { deployment: name }, startSeconds: 60, stopSeconds: 5 },
  })
  const servers = { ...workload('quake'), ...workload('broken'), ...workload('none') }
  const environment = {
    KUBECONFIG: lab.kubeconfig,
    GAMES_DISCOVER: 'false',
    GAMES_SERVERS: JSON.stringify(servers),
  }
  world = await startWorld(games, { clock: systemClock, environment })
}, BUILD_LIMIT)
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
  await lab?.[Symbol.asyncDispose]()
}, 60_000)

const LIMIT = { timeout: 180_000 }

/** Creates a Deployment that is scaled to 0. */
async function deploy(app: string, command: string): Promise<void> {
  const container = {
    name: app,
    image: 'lab/busybox:latest',
    imagePullPolicy: 'Never',
    command: ['sh', '-c', command],
  }
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
      replicas: 0,
      selector: { matchLabels: { app } },
      template: { metadata: { labels: { app } }, spec },
    },
  })
}

test('a workload is started, shows its log, is restarted and stopped', LIMIT, async () => {
  await deploy('quake', 'echo "game is up"; trap "exit 0" TERM; while :; do sleep 0.1; done')
  expect((await world.call('list_game_servers')).text).toMatch(/^quake: stopped$/m)
  const started = await world.call('start_game_server', { server: 'quake' })
  expect(started.data, started.text).toMatchObject({ server: 'quake', started: true })
  expect((await world.call('start_game_server', { server: 'quake' })).text).toContain('runs already')
  expect((await world.call('get_game_server_logs', { server: 'quake' })).text).toContain('game is up')
  expect((await world.call('get_game_server', { server: 'quake' })).text).toMatch(
    /^quake: running for \d+ s\.\nIt is the deployment default\/quake; started/,
  )
  expect((await world.call('restart_game_server', { server: 'quake' })).data).toMatchObject({
    restarted: true,
  })
  expect((await world.call('stop_game_server', { server: 'quake' })).data).toMatchObject({ stopped: true })
  expect((await world.call('list_game_servers')).text).toMatch(/^quake: stopped$/m)
  expect(world.events()).toEqual([])
})

test('one that ends again and again fails the start, and is told as a crash', LIMIT, async () => {
  await deploy('broken', 'echo "no such map"; sleep 1; exit 4')
  const failed = await world.call('start_game_server', { server: 'broken' })
  expect(failed.isError).toBe(true)
  expect(failed.text).toContain('its last lines: "no such map"')
  await until('the crash is told', () => world.events().length > 0, { within: 60_000 })
  expect(world.events()[0]).toMatchObject({ key: 'server_crash:broken', payload: { server: 'broken' } })
})

test('a workload that does not exist is told', LIMIT, async () => {
  expect((await world.call('list_game_servers')).text).toContain('none: not there')
  const failed = await world.call('start_game_server', { server: 'none' })
  expect(failed.text).toContain('There is no deployment default/none.')
})
