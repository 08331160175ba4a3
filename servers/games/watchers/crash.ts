import type { Clock } from '../../kit/clock.ts'
import type { Emit } from '../../kit/events.ts'
import type { Watcher } from '../../kit/server.ts'
import type { Backend, BackendState, Crash, Game } from '../game.ts'
import type { Games } from '../games.ts'
import type { RequestedEnds } from '../requested-ends.ts'

export interface CrashDeps {
  games: Games
  ends: RequestedEnds
  emit: Emit
  clock: Clock
  /** See `createCrashCounts`. */
  countCrash: (game: string) => number
}

/** Milliseconds between two polls. */
const EVERY: Readonly<Record<Exclude<Backend['kind'], 'docker'>, number>> = {
  process: 1000,
  systemd: 5000,
  kubernetes: 15_000,
}

/** Decides from two states of a backend whether the game crashed in between. */
export function decideCrash(
  kind: Backend['kind'],
  before: BackendState,
  now: BackendState,
): Crash | undefined {
  const restarted = (now.restarts ?? 0) > (before.restarts ?? 0)
  // A pod that never ran (its image is missing) has failed, but not crashed.
  const isSameEnd = before.state === 'failed' && before.stoppedAt === now.stoppedAt
  const failed = kind !== 'kubernetes' && now.state === 'failed' && !isSameEnd
  return restarted || failed ? { exitCode: now.exitCode, oom: now.oom } : undefined
}

/**
 * Raises the event, unless a tool requested that end. From the third within ten minutes on, the event says
 * that it is a loop.
 */
export function raiseCrash(game: Game, { exitCode, oom, container }: Crash, deps: CrashDeps): void {
  if (deps.ends.take(game.name)) return
  const count = deps.countCrash(game.name)
  const payload = {
    server: game.name,
    ...(exitCode !== undefined && { exitCode }),
    ...(oom && { oom }),
    ...(container !== undefined && { container }),
    ...(count >= LOOP_FROM && { loop: true as const, count }),
  }
  deps.emit('server_crash', payload, `server_crash:${game.name}`)
}

/** Milliseconds in which LOOP_FROM crashes are a loop. */
const LOOP_SPAN = 10 * 60_000
const LOOP_FROM = 3

/** Creates a count of each game's crashes within the last ten minutes: it counts one more, and returns it. */
export function createCrashCounts(clock: Clock): (game: string) => number {
  const crashes = new Map<string, number[]>()
  return game => {
    const now = clock.monotonic()
    const recent = [...(crashes.get(game) ?? []).filter(at => at > now - LOOP_SPAN), now]
    crashes.set(game, recent)
    return recent.length
  }
}

/** Creates the watcher for `server_crash` of a game whose backend sends no events. */
export function createCrashWatcher(game: Game, deps: CrashDeps): Watcher | undefined {
  const { kind } = game.backend
  if (kind === 'docker') return undefined
  let before: BackendState | undefined
  return {
    name: `server_crash ${game.name}`,
    every: EVERY[kind],
    async poll() {
      const now = await game.backend.state()
      const crash = before && decideCrash(kind, before, now)
      before = now
      if (crash) raiseCrash(game, crash, deps)
      else deps.ends.settle(game.name)
    },
  }
}
