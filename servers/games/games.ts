import type { Container, Engine } from '../kit/engine/engine.ts'
import { ToolFailure, toFailure } from '../kit/failure.ts'
import { cleanText, quote } from '../kit/text.ts'
import { type BackendDeps, createBackend } from './backend/backend.ts'
import type { GameSettings, GamesSettings } from './config.ts'
import { createConsole } from './console/console.ts'
import type { Game } from './game.ts'
import { GAME_LABEL, readLabels } from './labels.ts'
import { createQuery } from './query/query.ts'

/** What the games server looks after. */
export interface Games {
  /** Those of the config, then those of container labels, by name; a look at the engines' lists. */
  list(signal?: AbortSignal): Promise<Game[]>
  /** The same, with what is wrong: labels that cannot be read, an engine that does not answer. Never rejects for these. */
  look(signal?: AbortSignal): Promise<{ games: Game[]; problems: string[] }>
  /** By name or title, in any case. Throws ToolFailure that names those that are there. */
  pick(name: string, signal?: AbortSignal): Promise<Game>
}

export interface GamesDeps extends BackendDeps {
  settings: GamesSettings
}

/** Builds the declared games once, and finds those of container labels anew at every look. */
export function createGames(deps: GamesDeps): Games {
  const { settings } = deps
  const declared = settings.declared.map(one => createGame(one, deps))
  const taken = new Set(declared.map(game => game.name))
  let labelled = new Map<string, Game>()

  const look = async (signal?: AbortSignal) => {
    const found = settings.discover ? await findLabelled(deps, signal) : { games: [], problems: [] }
    const { problems } = found
    const next = new Map<string, Game>()
    const byName = new Map<string, Game>()
    for (const one of found.games.filter(game => !taken.has(game.name))) {
      const key = JSON.stringify(one)
      const game = labelled.get(key) ?? createGame(one, deps)
      if (byName.has(one.name)) {
        problems.push(
          `two containers are labelled ${one.name}; ${byName.get(one.name)?.backend.where} is used`,
        )
        continue
      }
      next.set(key, game)
      byName.set(one.name, game)
    }
    labelled = next
    const games = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
    return { games: [...declared, ...games], problems }
  }
  const list = async (signal?: AbortSignal) => (await look(signal)).games
  return {
    look,
    list,
    async pick(name, signal) {
      const own = findByName(declared, name)
      if (own) return own
      const { games, problems } = await look(signal)
      const game = findByName(games, name)
      if (game) return game
      throw toUnknown(name, games, problems)
    },
  }
}

function createGame(settings: GameSettings, deps: GamesDeps): Game {
  const { backend, query, console, ...rest } = settings
  return {
    ...rest,
    backend: createBackend(backend, deps),
    query: query && createQuery(query, deps),
    console: console && createConsole(console, deps),
  }
}

function findByName(games: readonly Game[], name: string): Game | undefined {
  const wanted = name.trim().toLowerCase()
  return (
    games.find(game => game.name.toLowerCase() === wanted) ??
    games.find(game => game.title.toLowerCase() === wanted)
  )
}

/** Running ones first, so that a container that was replaced does not hide the one that replaced it. */
async function findLabelled(
  { engines, settings }: GamesDeps,
  signal?: AbortSignal,
): Promise<{ games: GameSettings[]; problems: string[] }> {
  const looks = await Promise.all(engines.map(engine => findIn(engine, settings, signal)))
  return { games: looks.flatMap(look => look.games), problems: looks.flatMap(look => look.problems) }
}

async function findIn(engine: Engine, settings: GamesSettings, signal?: AbortSignal) {
  try {
    const containers = await engine.list({ label: GAME_LABEL, ...(signal && { signal }) })
    const read = containers.sort(byUse).map(container => readLabels(container, engine.name, settings))
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
  const names = games.slice(0, 20).map(game => game.name)
  const more = games.length > names.length ? ` and ${games.length - names.length} more` : ''
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
    why: `there are only ${names.join(', ')}${more}`,
    fix: 'Call it again with one of these names; list_game_servers tells about each.',
  })
}
