import { expect, test } from 'vitest'
import { eventPayloads } from '../../../schemas/events.ts'
import { createEventLog } from '../../kit/events.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { createFakeClock } from '../../kit/testing/fake-clock.ts'
import { createFakeEngine, fakeContainer } from '../../kit/testing/fake-engine.ts'
import { runWatcher } from '../../kit/watch.ts'
import { createFakeCluster, fakePod } from '../testing/fake-cluster.ts'
import { createContainerFollower, createEngineWatcher, createPodWatcher } from './containers.ts'

const MINUTE = 60_000

function start(
  watch: (deps: Parameters<typeof createContainerFollower>[1]) => Parameters<typeof runWatcher>[0],
) {
  const clock = createFakeClock()
  const log = createEventLog('metrics', 'stream', clock)
  const logged: string[] = []
  const stop = runWatcher(watch({ emit: log.emit, clock }), clock, (_level, event) => logged.push(event))
  const events = () =>
    log.read(0).events.map(({ key, payload }) => {
      const { status, restarts } = eventPayloads.container_unhealthy.parse(payload)
      return `${key} ${status} ${restarts}`
    })
  return { clock, logged, events, stop }
}

const ILL = 'container_unhealthy:docker:plex unhealthy 0'
const follow = (engine: ReturnType<typeof createFakeEngine>) =>
  start(deps => createContainerFollower(engine, deps))

test('what is ill at the start is raised once, held while it lasts, and raised again after it was well', async () => {
  const engine = createFakeEngine('docker', [
    fakeContainer('plex', { health: 'unhealthy' }),
    fakeContainer('web'),
  ])
  const { clock, events, stop } = follow(engine)
  await clock.advance(0)
  expect(events()).toEqual([ILL])
  await clock.advance(30 * MINUTE)
  expect(events()).toEqual([ILL])
  engine.containers.set('plex', fakeContainer('plex', { health: 'healthy' }))
  engine.happen({ kind: 'health', health: 'healthy' })
  await clock.advance(1000)
  engine.containers.set('plex', fakeContainer('plex', { health: 'unhealthy' }))
  await clock.advance(MINUTE + 1000)
  expect(events()).toEqual([ILL, ILL])
  stop()
  await clock.advance(0)
  expect(clock.pending).toBe(0)
  expect(engine.followers).toBe(0)
})

test('what ended is not unhealthy, whatever its last check said', async () => {
  const engine = createFakeEngine('docker', [
    fakeContainer('plex', { health: 'unhealthy', state: 'exited', exitCode: 0 }),
  ])
  const { clock, events, stop } = follow(engine)
  await clock.advance(5 * MINUTE)
  expect(events()).toEqual([])
  stop()
})

test('an event of the engine is looked at soon, and many at once are looked at once', async () => {
  const engine = createFakeEngine('docker', [fakeContainer('plex', { health: 'healthy' })])
  const { clock, events, stop } = follow(engine)
  await clock.advance(0)
  engine.containers.set('plex', fakeContainer('plex', { health: 'unhealthy' }))
  for (let count = 0; count < 50; count++) engine.happen({ kind: 'health', health: 'unhealthy' })
  engine.happen({ kind: 'kill' })
  await clock.advance(600)
  expect(events()).toEqual([ILL])
  expect(engine.asked.filter(call => call === 'list')).toHaveLength(2)
  stop()
})

test('one that restarts again and again is raised, one that restarted long ago is not', async () => {
  const engine = createFakeEngine('docker', [fakeContainer('web', { restarts: 40 }), fakeContainer('db')])
  const { clock, events, stop } = follow(engine)
  await clock.advance(MINUTE)
  expect(events()).toEqual([])
  const restart = async (restarts: number) => {
    engine.containers.set('web', fakeContainer('web', { restarts, state: 'restarting' }))
    engine.happen({ kind: 'die', name: 'web' })
    await clock.advance(5000)
  }
  await restart(41)
  await restart(42)
  expect(events()).toEqual([])
  await restart(43)
  expect(events()).toEqual(['container_unhealthy:docker:web restart loop 43'])
  await restart(44)
  expect(events()).toHaveLength(1)
  await clock.advance(12 * MINUTE)
  for (const restarts of [45, 46, 47]) await restart(restarts)
  expect(events()).toHaveLength(2)
  stop()
})

test('slow restarts are no loop, and a container made anew begins at nothing', async () => {
  const engine = createFakeEngine('docker', [fakeContainer('web', { restarts: 9 })])
  const { clock, events, stop } = follow(engine)
  for (const restarts of [10, 11, 12, 13, 14]) {
    engine.containers.set('web', fakeContainer('web', { restarts }))
    await clock.advance(6 * MINUTE)
  }
  for (const restarts of [0, 1, 2]) {
    engine.containers.set('web', fakeContainer('web', { restarts }))
    await clock.advance(MINUTE)
  }
  expect(events()).toEqual([])
  stop()
})

test('an engine that is down is told once, keeps what was raised, and is heard again', async () => {
  const engine = createFakeEngine('docker', [fakeContainer('plex', { health: 'unhealthy' })])
  const { clock, events, logged, stop } = follow(engine)
  await clock.advance(0)
  engine.fail(new ToolFailure({ what: 'Docker is down.', where: '/run', why: 'no socket', fix: 'start it' }))
  await clock.advance(10 * MINUTE)
  expect(logged).toEqual(['watcher lost its connection, it goes on trying'])
  engine.fail(undefined)
  await clock.advance(2 * MINUTE)
  expect(logged.at(-1)).toBe('watcher works again')
  expect(engine.followers).toBe(1)
  expect(events()).toEqual([ILL])
  stop()
})

test('a pod that is stuck is raised once; one that starts or is done is not', async () => {
  const cluster = createFakeCluster({
    pods: [
      fakePod('web', { status: 'CrashLoopBackOff', ready: false, restarts: 7 }),
      fakePod('new', { status: 'Pending', ready: false }),
      fakePod('job', { status: 'Succeeded', ready: false }),
      fakePod('well'),
    ],
    workloads: [],
  })
  const { clock, events, stop } = start(deps => createPodWatcher(cluster, 15_000, deps))
  await clock.advance(5 * MINUTE)
  expect(events()).toEqual(['container_unhealthy:k8s:home/web CrashLoopBackOff 7'])
  cluster.now = { pods: [fakePod('web')], workloads: [] }
  await clock.advance(20_000)
  cluster.now = { pods: [fakePod('web', { status: 'ImagePullBackOff', ready: false })], workloads: [] }
  await clock.advance(20_000)
  expect(events()).toHaveLength(2)
  stop()
})

test('an engine that is started later is followed too, each once, until the end', async () => {
  const engines = [createFakeEngine('docker', [])]
  const late = createFakeEngine('podman', [fakeContainer('plex', { health: 'unhealthy' })])
  let watcher: ReturnType<typeof createEngineWatcher> | undefined
  const { clock, events, stop } = start(deps => {
    watcher = createEngineWatcher({ engines: () => engines }, { ...deps, log: () => undefined })
    return watcher
  })
  await clock.advance(5 * MINUTE)
  expect(engines[0]?.followers).toBe(1)
  engines.push(late)
  await clock.advance(2 * MINUTE)
  expect(late.followers).toBe(1)
  expect(events()).toEqual(['container_unhealthy:podman:plex unhealthy 0'])
  stop()
  watcher?.[Symbol.dispose]()
  await clock.advance(MINUTE)
  expect([...engines.map(engine => engine.followers), clock.pending]).toEqual([0, 0, 0])
})
