import type { Clock } from '../../kit/clock.ts'
import type { Emit } from '../../kit/events.ts'
import type { Watcher } from '../../kit/server.ts'
import type { AskedEnds } from '../asked-ends.ts'
import type { Backend, BackendState, Crash, Game } from '../game.ts'
import type { Games } from '../games.ts'

export interface CrashDeps {
  games: Games
  ends: AskedEnds
  emit: Emit
  clock: Clock
}

/** Milliseconds between two looks. */
const EVERY: Readonly<Record<Exclude<Backend['kind'], 'docker'>, number>> = {
  process: 1000,
  systemd: 5000,
  kubernetes: 15_000,
}

/** What two looks at a backend tell of an end in between that it did not ask for itself. */
export function decideCrash(
  kind: Backend['kind'],
  before: BackendState,
  now: BackendState,
): Crash | undefined {
  const restarted = (now.restarts ?? 0) > (before.restarts ?? 0)
  // A pod that never ran (its image is missing) has failed, but not crashed.
  const failed = kind !== 'kubernetes' && now.state === 'failed' && !isSameEnd(before, now)
  return restarted || failed ? { exitCode: now.exitCode, oom: now.oom } : undefined
}

function isSameEnd(before: BackendState, now: BackendState): boolean {
  return before.state === 'failed' && before.stoppedAt === now.stoppedAt
}

/** Raises the event, unless a tool asked for that end. */
export function raiseCrash(game: Game, { exitCode, oom }: Crash, { ends, emit }: CrashDeps): void {
  if (ends.take(game.name)) return
  emit(
    'server_crash',
    { server: game.name, ...(exitCode !== undefined && { exitCode }), ...(oom && { oom }) },
    `server_crash:${game.name}`,
  )
}

/** `server_crash` of a game whose backend tells nothing by itself. */
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
