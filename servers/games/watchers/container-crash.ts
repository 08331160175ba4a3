import { sleep } from '../../kit/clock.ts'
import type { ContainerEvent, Engine } from '../../kit/docker/engine.ts'
import type { Follower, Watcher } from '../../kit/server.ts'
import type { BackendState } from '../game.ts'
import { isCrashCode, KILLED } from '../upstreams/state.ts'
import { type CrashDeps, createCrashWatcher, decideCrash, raiseCrash } from './crash.ts'

/** Milliseconds between two searches for an engine, and after which a signal no longer explains an end. */
const LOOK_AGAIN = 30_000
const SIGNAL_EXPLAINS = 300_000

interface Watch {
  engine: Engine
  deps: CrashDeps
  /** True for Docker, which reports signals before the ends that they cause; Podman does not. */
  tellsSignals: boolean
  /** By container id: the time of its last signal, and the containers that ran out of memory. */
  signalled: Map<string, number>
  starved: Set<string>
  /** The last known state of each game, to find crashes during a disconnection. */
  seen: Map<string, BackendState>
}

/**
 * Creates the follower for `server_crash` of games in an engine's containers, by its stream of events. `find`
 * returns the engine once it exists.
 */
export function createContainerCrashFollower(
  name: string,
  find: () => Engine | undefined,
  deps: CrashDeps,
): Follower {
  const seen = new Map<string, BackendState>()
  return {
    name: `server_crash ${name}`,
    async follow(signal, ready) {
      const engine = await untilThere(find, deps, signal)
      const tellsSignals = !/^podman/i.test(await engine.version(signal))
      const watch = { engine, deps, tellsSignals, seen, signalled: new Map(), starved: new Set<string>() }
      // Events are handled one after the other, since each may ask the engine.
      let work: Promise<void> = Promise.resolve()
      const failed = new AbortController()
      const then = (step: () => Promise<void>) => {
        work = work.then(step).catch(error => failed.abort(error))
      }
      await engine.follow(
        event => then(() => hear(watch, event)),
        AbortSignal.any([signal, failed.signal]),
        () => {
          ready()
          then(() => catchUp(watch))
        },
      )
      failed.signal.throwIfAborted()
    },
  }
}

async function untilThere(
  find: () => Engine | undefined,
  { clock }: CrashDeps,
  signal: AbortSignal,
): Promise<Engine> {
  for (;;) {
    const engine = find()
    if (engine) return engine
    await sleep(clock, LOOK_AGAIN, signal)
  }
}

/**
 * Raises, after a connection, what crashed since the last one. The first time nothing is known, so nothing is
 * raised.
 */
async function catchUp({ engine, deps, seen }: Watch): Promise<void> {
  for (const game of await deps.games.list()) {
    if (deps.games.engineOf(game) !== engine.name) continue
    const now = await game.backend.state()
    const before = seen.get(game.name)
    seen.set(game.name, now)
    const crash = before && decideCrash('docker', before, now)
    if (crash) raiseCrash(game, crash, deps)
  }
}

async function hear(watch: Watch, event: ContainerEvent): Promise<void> {
  const { deps, signalled, starved } = watch
  switch (event.kind) {
    case 'kill':
      return void signalled.set(event.id, deps.clock.monotonic())
    case 'oom':
      return void starved.add(event.id)
    case 'start':
      signalled.delete(event.id)
      starved.delete(event.id)
      return await remember(watch, event)
    case 'die':
      return await end(watch, event)
    case 'health':
    case 'destroy':
      return
    default:
      return event.kind satisfies never
  }
}

async function remember({ engine, deps, seen }: Watch, event: ContainerEvent): Promise<void> {
  const game = await deps.games.ofContainer(engine.name, event)
  if (!game) return
  deps.ends.settle(game.name)
  seen.set(game.name, await game.backend.state())
}

async function end(watch: Watch, event: ContainerEvent): Promise<void> {
  const { engine, deps, seen } = watch
  const { exitCode } = event
  const { wasStarved, wasSignalled } = takeSigns(watch, event.id)
  const game = await deps.games.ofContainer(engine.name, event)
  if (!game) return
  const now = await game.backend.state()
  seen.set(game.name, now)
  const oom = wasStarved || (exitCode === KILLED && now.oom)
  const unknowable = !watch.tellsSignals && exitCode === KILLED
  const asked = !oom && (wasSignalled || unknowable)
  if (asked || !isCrashCode(exitCode, oom)) deps.ends.take(game.name)
  else raiseCrash(game, { exitCode, oom, container: event.name }, deps)
}

/** Returns the signs of a container before its end. */
function takeSigns({ deps, signalled, starved }: Watch, id: string) {
  const at = signalled.get(id)
  signalled.delete(id)
  return {
    wasStarved: starved.delete(id),
    wasSignalled: at !== undefined && deps.clock.monotonic() - at < SIGNAL_EXPLAINS,
  }
}

/** Creates the watchers for `server_crash`: engines push; units, processes and workloads are polled. */
export function createCrashWatchers(
  engines: () => readonly Engine[],
  deps: CrashDeps,
): (Watcher | Follower)[] {
  const polled = deps.games.declared.flatMap(game => createCrashWatcher(game, deps) ?? [])
  const names = engines().map(engine => engine.name)
  const pushed = names.map(name =>
    createContainerCrashFollower(name, () => engines().find(engine => engine.name === name), deps),
  )
  // If there is no engine yet, the follower finds one that is started later.
  const later = createContainerCrashFollower('containers', () => engines()[0], deps)
  return [...polled, ...(pushed.length > 0 ? pushed : [later])]
}
