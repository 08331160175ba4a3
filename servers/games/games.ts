import type { Container, Engine } from '../kit/docker/engine.ts'
import { ToolFailure, toFailure } from '../kit/failure.ts'
import { toListText } from '../kit/render.ts'
import { cleanText, quote } from '../kit/text.ts'
import type { GameSettings, GamesSettings } from './config.ts'
import type { Game } from './game.ts'
import { GAME_LABEL, readLabels } from './labels.ts'
import { type RequestedStops, withRequestedStops } from './requested-ends.ts'
import { type BackendDeps, createBackend } from './upstreams/backend.ts'
import { createConsole } from './upstreams/console.ts'
import { createQuery } from './upstreams/query.ts'

export type Games = ReturnType<typeof createGames>

export interface GamesDeps extends BackendDeps {
  stops: RequestedStops
  settings: GamesSettings
}

/** A game with its settings. */
interface Known {
  game: Game & { backend: Partial<AsyncDisposable> }
  settings: GameSettings
}

/**
 * Creates the registry of all game servers. It builds the declared ones once, and finds those of container
 * labels anew at every call.
 */
export function createGames(deps: GamesDeps) {
  const declared = deps.settings.declared.map(settings => createKnown(settings, deps))
  const own: readonly Game[] = declared.map(({ game }) => game)
  let labelled: readonly Known[] = []
  const toEngine = ({ settings: { backend } }: Known) =>
    backend.kind === 'docker' ? (backend.engine ?? deps.engines()[0]?.name) : undefined

  /**
   * Asks the engines for their lists, and returns all games, with problems: labels that cannot be read, an
   * engine that does not answer. Never rejects for these.
   */
  const find = async (signal?: AbortSignal): Promise<{ games: Game[]; problems: string[] }> => {
    const found = deps.settings.discover ? await findLabelled(deps, signal) : NOTHING
    const fresh = withoutTaken(found.games, declared)
    labelled = fresh.games.map(settings => findSame(settings, labelled) ?? createKnown(settings, deps))
    const games = [...own, ...labelled.map(({ game }) => game)]
    return { games, problems: [...found.problems, ...fresh.problems] }
  }
  return {
    /** Games of the config. */
    declared: own,
    find,
    /** Returns the games of the config, then those of container labels, by name. */
    list: async (signal?: AbortSignal) => (await find(signal)).games,
    /** Returns the name of the engine that has its container; undefined if it has no container. */
    engineOf(game: Game): string | undefined {
      const known = [...declared, ...labelled].find(one => one.game === game)
      return known && toEngine(known)
    },
    /**
     * Returns the game that runs in a container of an engine, even if the container is gone since the last
     * poll.
     */
    async ofContainer(
      engine: string,
      container: { id: string; name: string },
      signal?: AbortSignal,
    ): Promise<Game | undefined> {
      const before = labelled
      const isIt = (known: Known) =>
        known.settings.backend.kind === 'docker' &&
        toEngine(known) === engine &&
        (known.settings.backend.container === container.name ||
          container.id.startsWith(known.settings.backend.container))
      const known = declared.find(isIt)
      if (known) return known.game
      await find(signal)
      return (labelled.find(isIt) ?? before.find(isIt))?.game
    },
    /** Finds a game by name or title, in any case. Throws a ToolFailure that names those that exist. */
    async pick(name: string, signal?: AbortSignal): Promise<Game> {
      const known = findByName(own, name)
      if (known) return known
      const { games, problems } = await find(signal)
      const game = findByName(games, name)
      if (game) return game
      throw toUnknown(name, games, problems)
    },
    /** Ends the games that it started itself as processes. */
    async [Symbol.asyncDispose]() {
      await Promise.all(declared.map(({ game }) => game.backend[Symbol.asyncDispose]?.()))
    },
  }
}

function createKnown(settings: GameSettings, deps: GamesDeps): Known {
  const { backend, query, console, ...rest } = settings
  const game = {
    ...rest,
    backend: withRequestedStops(settings.name, createBackend(backend, deps), deps.stops),
    query: query && createQuery(query, deps),
    console: console && createConsole(console, deps),
  }
  return { game, settings }
}

function findSame(settings: GameSettings, known: readonly Known[]): Known | undefined {
  const key = JSON.stringify(settings)
  return known.find(one => JSON.stringify(one.settings) === key)
}

/**
 * Resolves equal names: the config wins over labels, and the first of two containers wins; the second is a
 * problem.
 */
function withoutTaken(found: readonly GameSettings[], declared: readonly Known[]) {
  const taken = new Set(declared.map(({ game }) => game.name))
  const free = found.filter(({ name }) => !taken.has(name))
  const byName = Map.groupBy(free, ({ name }) => name)
  const games = [...byName.values()].flatMap(same => same.slice(0, 1))
  const problems = [...byName].flatMap(([name, same]) =>
    same.length > 1
      ? [`${same.length} containers have the label ${GAME_LABEL}=${name}; ${toContainer(same[0])} is used`]
      : [],
  )
  return { games: games.sort((a, b) => (a.name < b.name ? -1 : 1)), problems }
}

function toContainer(settings: GameSettings | undefined): string {
  return settings?.backend.kind === 'docker' ? settings.backend.container : 'the first'
}

function findByName(games: readonly Game[], name: string): Game | undefined {
  const wanted = name.trim().toLowerCase()
  return (
    games.find(game => game.name.toLowerCase() === wanted) ??
    games.find(game => game.title.toLowerCase() === wanted)
  )
}

const NOTHING: Found = { games: [], problems: [] }

interface Found {
  games: readonly GameSettings[]
  problems: readonly string[]
}

/**
 * Finds labelled containers, running ones first, so that a replaced container does not hide its successor.
 */
async function findLabelled({ engines, settings }: GamesDeps, signal?: AbortSignal): Promise<Found> {
  const looks = await Promise.all(engines().map(engine => findIn(engine, settings, signal)))
  return { games: looks.flatMap(look => look.games), problems: looks.flatMap(look => look.problems) }
}

async function findIn(engine: Engine, settings: GamesSettings, signal?: AbortSignal) {
  try {
    const containers = await engine.list({ label: GAME_LABEL, ...(signal && { signal }) })
    const read = containers.toSorted(byUse).map(container => readLabels(container, engine.name, settings))
    return {
      games: read.flatMap(({ game }) => game ?? []),
      problems: read.flatMap(({ problems }) => problems),
    }
  } catch (error) {
    const { what, why } = toFailure(error, engine.address)
    return { games: [], problems: [cleanText(`${what} ${why}`, 300)] }
  }
}

function byUse(a: Container, b: Container): number {
  const rank = ({ state }: Container) => (state === 'running' ? 0 : 1)
  return rank(a) - rank(b) || (a.name < b.name ? -1 : 1)
}

function toUnknown(name: string, games: readonly Game[], problems: readonly string[]): ToolFailure {
  if (games.length === 0) {
    return new ToolFailure({
      what: 'No game server is configured here.',
      where: 'GAMES_CONFIG, GAMES_SERVERS',
      why: [
        'neither is set or they list none, and no container has the label superbloom.game',
        ...problems,
      ].join('; '),
      fix: 'Ask the owner to list the game servers in the file that GAMES_CONFIG names, or to label their containers superbloom.game=NAME.',
    })
  }
  return new ToolFailure({
    what: `There is no game server ${quote(name, 60)}.`,
    where: 'server',
    why: `there ${games.length === 1 ? 'is' : 'are'} only ${toListText(games, 20, game => game.name)}`,
    fix: 'Call it again with one of these names; list_game_servers tells about each.',
  })
}
