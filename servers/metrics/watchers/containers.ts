import { type Clock, sleep } from '../../kit/clock.ts'
import type { ContainerEvent, Engine } from '../../kit/docker/engine.ts'
import type { Emit } from '../../kit/events.ts'
import type { Cluster, Pod } from '../../kit/kubernetes/cluster.ts'
import type { LevelRule } from '../../kit/levels.ts'
import { createLevelWatcher, type Reading } from '../../kit/levels.ts'
import type { Log } from '../../kit/log.ts'
import type { Follower, Watcher } from '../../kit/server.ts'
import { cleanText } from '../../kit/text.ts'
import { runWatcher } from '../../kit/watch.ts'
import type { Sources } from '../containers/sources.ts'
import { readStatuses, type Status } from '../containers/status.ts'
import { createLoops } from './loops.ts'

/** Milliseconds between two polls when the engine sends no events. */
const SLOW = 60_000
/** Milliseconds to wait after an event, so that events of one moment cause one poll. */
const SETTLE = 500
/** Rule for values that are 0 (healthy) or 1 (unhealthy). */
const RULE: LevelRule = { threshold: 1, sustain: 0, clearBelow: 1 }
const TELLING: ReadonlySet<ContainerEvent['kind']> = new Set(['start', 'die', 'oom', 'health', 'destroy'])
/** Statuses of pods that do not pass by themselves after a moment. */
const STUCK = /BackOff|^Err|Error|OOMKilled|Unschedulable/

/** The parts that the watchers use. */
export interface WatchDeps {
  emit: Emit
  clock: Clock
}

/** Raises container_unhealthy for each container of an engine that is unhealthy or restarts in a loop. */
export function createContainerFollower(engine: Engine, { emit, clock }: WatchDeps): Follower {
  const name = `containers of ${engine.name}`
  const findLoops = createLoops(clock)
  const level = createLevelWatcher(
    { name, type: 'container_unhealthy', rule: RULE, every: SLOW, read: () => read(engine, findLoops) },
    emit,
    clock,
  )
  return {
    name,
    async follow(signal, ready) {
      using ended = endWith(signal)
      const standing = Promise.withResolvers<void>()
      const wakes = createWakes()
      const onEvent = ({ kind }: ContainerEvent) => TELLING.has(kind) && wakes.wake()
      const looking = async () => {
        await standing.promise
        for (let first = true; ; first = false) {
          wakes.reset()
          await level.poll()
          if (first) ready()
          await wakes.wait(clock, ended.signal)
        }
      }
      // The first of the two that fails ends both; the kit then starts again.
      await Promise.race([engine.follow(onEvent, ended.signal, standing.resolve), looking()])
    },
  }
}

/** Returns a signal that aborts with the given one and when its block is left. */
function endWith(signal: AbortSignal): Disposable & { signal: AbortSignal } {
  const controller = new AbortController()
  return {
    signal: AbortSignal.any([signal, controller.signal]),
    [Symbol.dispose]: () => controller.abort(),
  }
}

/**
 * Creates a wait that ends after a while, or earlier when it is woken; a wake since the last reset counts.
 */
function createWakes() {
  let woken = new AbortController()
  return {
    wake: () => woken.abort(),
    reset: () => {
      woken = new AbortController()
    },
    async wait(clock: Clock, signal: AbortSignal): Promise<void> {
      await sleep(clock, SLOW, AbortSignal.any([signal, woken.signal])).catch(() => signal.throwIfAborted())
      await sleep(clock, SETTLE, signal)
    },
  }
}

async function read(
  engine: Engine,
  findLoops: ReturnType<typeof createLoops>,
): Promise<Reading<'container_unhealthy'>[]> {
  const containers = await engine.list({})
  const targets = containers.map(container => {
    return { kind: 'container', name: container.name, source: engine, container } as const
  })
  const statuses = await readStatuses(targets)
  const looping = findLoops(statuses.map(({ target, restarts }) => ({ name: target.name, restarts })))
  return statuses.map(status => toReading(engine.name, status, looping.has(status.target.name)))
}

function toReading(engine: string, status: Status, isLooping: boolean): Reading<'container_unhealthy'> {
  const name = cleanText(status.target.name)
  const isUnhealthy = status.state === 'running' && status.health === 'unhealthy'
  return {
    key: `container_unhealthy:${engine}:${name}`,
    value: isUnhealthy || isLooping ? 1 : 0,
    payload: { name, status: isLooping ? 'restart loop' : 'unhealthy', restarts: status.restarts },
  }
}

/** Raises container_unhealthy for each pod that is stuck, such as in CrashLoopBackOff. */
export function createPodWatcher(cluster: Cluster, every: number, { emit, clock }: WatchDeps): Watcher {
  return createLevelWatcher(
    {
      name: `pods of ${cluster.name}`,
      type: 'container_unhealthy',
      rule: RULE,
      every,
      read: async () => (await cluster.pods({})).map(pod => toPodReading(cluster.name, pod)),
    },
    emit,
    clock,
  )
}

function toPodReading(cluster: string, pod: Pod): Reading<'container_unhealthy'> {
  const name = cleanText(`${pod.namespace}/${pod.name}`)
  return {
    key: `container_unhealthy:${cluster}:${name}`,
    value: !pod.ready && STUCK.test(pod.status) ? 1 : 0,
    payload: { name, status: cleanText(pod.status), restarts: pod.restarts },
  }
}

/**
 * Milliseconds between two searches for engines that were started meanwhile. Looking for a socket costs
 * nothing.
 */
const EVERY = 60_000

/** Creates a watcher that follows every engine, and each that comes later, until it is disposed of. */
export function createEngineWatcher(
  sources: Pick<Sources, 'engines'>,
  deps: WatchDeps & { log: Log },
): Watcher & Disposable {
  const following = new Map<string, () => void>()
  let ended = false
  return {
    name: 'container engines',
    every: EVERY,
    async poll() {
      for (const engine of ended ? [] : sources.engines()) {
        const key = `${engine.name} ${engine.address}`
        if (following.has(key)) continue
        following.set(key, runWatcher(createContainerFollower(engine, deps), deps.clock, deps.log))
      }
    },
    [Symbol.dispose]() {
      ended = true
      for (const stop of following.values()) stop()
    },
  }
}
