import type { Clock } from '../../kit/clock.ts'
import { decideBackOff } from '../../kit/clock.ts'
import type { Emit } from '../../kit/events.ts'
import { toFailure } from '../../kit/failure.ts'
import type { Log } from '../../kit/log.ts'
import type { Watcher } from '../../kit/server.ts'
import type { Game } from '../game.ts'
import type { Games } from '../games.ts'

/** Longest pause in milliseconds between two polls of a game that does not answer. */
const LONGEST_PAUSE = 60_000
/**
 * Milliseconds of silence after which the known players are forgotten: the next answer counts as a first one.
 */
const MEMORY = 10 * 60_000

export interface PlayersWatcherDeps {
  games: Pick<Games, 'list'>
  emit: Emit
  clock: Clock
  log: Log
  /** Milliseconds between two polls. */
  every: number
}

const NEW: Memory = { playing: undefined, answeredAt: 0, failures: 0, nextAt: 0 }

/** The watcher's memory of one game. */
interface Memory {
  playing: Playing | undefined
  /** Time of the last answer; monotonic, milliseconds. */
  answeredAt: number
  failures: number
  /** Time of the next query; monotonic, milliseconds. */
  nextAt: number
}

/**
 * Creates a watcher that asks all games with a query who plays, and raises who came, who left, and that
 * everyone left.
 */
export function createPlayersWatcher({ games, emit, clock, log, every }: PlayersWatcherDeps): Watcher {
  let memories = new Map<string, Memory>()

  const check = async (game: Game, memory: Memory) => {
    try {
      const status = await game.query?.ask()
      if (!status) return
      const now = clock.monotonic()
      const before = now - memory.answeredAt <= MEMORY ? memory.playing : undefined
      const playing = { count: status.players, names: status.names }
      raise(emit, game.name, decideChanges(before, playing), playing.count)
      if (memory.failures > 0) log('info', 'game answers again', { game: game.name })
      Object.assign(memory, { playing, answeredAt: now, failures: 0, nextAt: 0 })
    } catch (error) {
      memory.failures++
      const pause = decideBackOff(memory.failures, every, Math.max(every, LONGEST_PAUSE), 0.5)
      memory.nextAt = clock.monotonic() + pause
      if (memory.failures > 1) return
      const { where, why } = toFailure(error, game.name)
      log('info', 'game does not answer who plays, it is asked again', { game: game.name, where, why })
    }
  }
  return {
    name: 'players',
    every,
    async poll() {
      const asked = (await games.list()).filter(game => game.query !== undefined)
      memories = new Map(asked.map(({ name }) => [name, memories.get(name) ?? { ...NEW }]))
      const now = clock.monotonic()
      await Promise.all(
        asked.map(async game => {
          const memory = memories.get(game.name)
          if (memory && memory.nextAt <= now) await check(game, memory)
        }),
      )
    },
  }
}

/** Raises the changes. The keys contain only the game: events of the same game have the same subject. */
function raise(emit: Emit, server: string, changes: readonly Change[], playerCount: number): void {
  for (const change of changes) {
    const key = `${change.type}:${server}`
    if (change.type === 'server_empty') {
      emit(change.type, { server, previousCount: change.previousCount }, key)
    } else {
      const names = change.names === undefined ? {} : { names: change.names }
      emit(change.type, { server, playerCount, ...names }, key)
    }
  }
}

/** The players of a game, as a query reports them. */
export interface Playing {
  count: number
  /** Undefined if the game gives none; may be fewer than the players. */
  names: readonly string[] | undefined
}

/** A change between two polls. `names` is set if the game gives all of them. */
export type Change =
  | { type: 'player_joined' | 'player_left'; names: string[] | undefined }
  | { type: 'server_empty'; previousCount: number }

/**
 * Decides what changed since the poll before; nothing after the first poll. It compares names if both polls
 * have all of them, so that it sees one who came while another left; else the counts.
 */
export function decideChanges(before: Playing | undefined, now: Playing): Change[] {
  if (!before) return []
  const changes = byNames(before, now) ?? byCount(before, now)
  if (before.count > 0 && now.count === 0) {
    changes.push({ type: 'server_empty', previousCount: before.count })
  }
  return changes
}

function byNames(before: Playing, now: Playing): Change[] | undefined {
  const [had, has] = [allNames(before), allNames(now)]
  if (!had || !has) return undefined
  const came = without(has, had)
  const left = without(had, has)
  return [
    ...(came.length > 0 ? [{ type: 'player_joined' as const, names: came }] : []),
    ...(left.length > 0 ? [{ type: 'player_left' as const, names: left }] : []),
  ]
}

function byCount(before: Playing, now: Playing): Change[] {
  if (now.count === before.count) return []
  return [{ type: now.count > before.count ? 'player_joined' : 'player_left', names: undefined }]
}

function allNames({ count, names }: Playing): readonly string[] | undefined {
  return names?.length === count ? names : undefined
}

/** Removes each name only once: two players may have the same name. */
function without(names: readonly string[], others: readonly string[]): string[] {
  const left = [...others]
  return names.filter(name => {
    const at = left.indexOf(name)
    if (at < 0) return true
    left.splice(at, 1)
    return false
  })
}
