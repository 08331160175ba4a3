import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { toProblems } from '../../schemas/problems.ts'
import { expandVariables, parseConfig, readConfigFile } from '../kit/config-file.ts'
import {
  type Environment,
  readRaw,
  readSettings,
  SettingsError,
  spanSetting,
  textSetting,
} from '../kit/env.ts'
import { describeError } from '../kit/log.ts'
import { switchSetting } from '../kit/settings.ts'
import { type GameEntry, gamesFile } from './declaration.ts'
import { toGateway } from './gateway.ts'
import type { ConsoleSettings } from './upstreams/console.ts'
import type { QuerySettings } from './upstreams/query.ts'

/** One game server's settings, from the config or from labels. */
export type GameSettings = Omit<GameEntry, 'title' | 'query' | 'console'> & {
  name: string
  title: string
  query: QuerySettings | undefined
  console: ConsoleSettings | undefined
}

export interface GamesSettings {
  /** Game servers of the config, in its order. */
  declared: readonly GameSettings[]
  /** True if containers with the label are game servers too. */
  discover: boolean
  /** Default host of queries and consoles. */
  host: string
  /** Milliseconds between two polls of the players. */
  playersInterval: number
  /** Returns the console's password of a game with a label: the variable `GAMES_PASSWORD_<NAME>`. */
  passwordOf(game: string): string | undefined
  /** Path of the file with the games that a tool stopped; undefined: they are forgotten at a restart. */
  stopsFile: string | undefined
}

const ROUTES = '/proc/net/route'

const table = {
  GAMES_DISCOVER: switchSetting({
    purpose: 'whether containers with the label superbloom.game are game servers too',
    default: true,
  }),
  GAMES_HOST: textSetting({
    purpose: 'the host that answers queries and console commands where none is named (default 127.0.0.1)',
    form: 'a host name, an address, or "gateway" for the machine of this container',
    pattern: /^[^\s/]{1,253}$/,
  }),
  GAMES_PLAYERS_INTERVAL: spanSetting({
    purpose: 'how often the watchers look who plays',
    default: '15s',
    min: 1000,
    max: 3_600_000,
  }),
  SUPERBLOOM_DATA: textSetting({
    purpose:
      'the folder of the file that holds which games were stopped by a tool; the hub sets its own folder',
    form: 'a path',
    pattern: /./,
  }),
} as const

/** Reads the environment and the files that it names. Throws SettingsError with all problems. */
export async function readGamesSettings(environment: Environment): Promise<GamesSettings> {
  const { GAMES_DISCOVER, GAMES_HOST, GAMES_PLAYERS_INTERVAL, SUPERBLOOM_DATA } = readSettings(
    table,
    environment,
  )
  const host = GAMES_HOST === 'gateway' ? readGateway() : (GAMES_HOST ?? '127.0.0.1')
  return {
    declared: await readDeclared(environment, host),
    discover: GAMES_DISCOVER,
    host,
    playersInterval: GAMES_PLAYERS_INTERVAL,
    stopsFile: SUPERBLOOM_DATA === undefined ? undefined : resolve(SUPERBLOOM_DATA, 'games.json'),
    passwordOf: game => readRaw(toPasswordVariable(game), environment).text,
  }
}

function readGateway(): string {
  const gateway = existsSync(ROUTES) ? toGateway(readFileSync(ROUTES, 'utf8')) : undefined
  if (gateway === undefined) {
    throw new SettingsError([
      'GAMES_HOST is "gateway", but there is no default route: name a host or an address.',
    ])
  }
  return gateway
}

/** Returns `GAMES_PASSWORD_ATM_10` for "atm-10". */
export function toPasswordVariable(game: string): string {
  return `GAMES_PASSWORD_${game.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`
}

async function readDeclared(environment: Environment, host: string): Promise<GameSettings[]> {
  const file = readRaw('GAMES_CONFIG', environment)
  const inline = readRaw('GAMES_SERVERS', environment)
  const problems = [file.problem, inline.problem].filter(problem => problem !== undefined)
  if (file.text !== undefined && inline.text !== undefined) {
    problems.push('GAMES_CONFIG and GAMES_SERVERS are both set; unset one of them.')
  }
  if (problems.length > 0) throw new SettingsError(problems)
  if (inline.text !== undefined) {
    const value = await parseConfig('GAMES_SERVERS', inline.text)
    const servers = hasServers(value) ? value : { servers: value }
    return toDeclared(servers, { where: 'GAMES_SERVERS', environment, problems }, host)
  }
  if (file.text === undefined) return []
  const value = await readConfigFile('GAMES_CONFIG', file.text)
  return toDeclared(value, { where: `GAMES_CONFIG ${file.text}`, environment, problems }, host)
}

function toDeclared(
  value: unknown,
  source: { where: string; environment: Environment; problems: string[] },
  host: string,
): GameSettings[] {
  const { where, problems } = source
  const parsed = gamesFile.safeParse(expandVariables(value, source))
  const add = (path: readonly PropertyKey[], problem: string) =>
    problems.push(`${where}: ${path.join('.') || 'the whole'}: ${problem}`)
  for (const { path, problem } of parsed.error?.issues.flatMap(toProblems) ?? []) add(path, problem)
  const games = Object.entries(parsed.data?.servers ?? {}).map(([name, entry]) =>
    toGameSettings(name, entry, host, problem => add(['servers', name, 'console', 'passwordFile'], problem)),
  )
  if (problems.length > 0) throw new SettingsError(problems)
  return games
}

function hasServers(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'servers' in value
}

function toGameSettings(
  name: string,
  entry: GameEntry,
  host: string,
  onProblem: (problem: string) => void,
): GameSettings {
  const { title = name, query } = entry
  return {
    ...entry,
    name,
    title,
    query: query && { ...query, host: query.host ?? host },
    console: toConsoleSettings(entry, host, onProblem),
  }
}

function toConsoleSettings(
  { console: entry }: GameEntry,
  host: string,
  onProblem: (problem: string) => void,
): ConsoleSettings | undefined {
  if (!entry) return undefined
  const { password, passwordFile, ...rest } = entry
  return {
    ...rest,
    host: entry.host ?? host,
    password: password ?? readPassword(passwordFile, onProblem),
  }
}

function readPassword(file: string | undefined, onProblem: (problem: string) => void): string {
  try {
    const password = readFileSync(file ?? '', 'utf8').trim()
    if (password === '') onProblem(`${file} is empty`)
    return password
  } catch (error) {
    onProblem(`it cannot be read: ${describeError(error)}`)
    return ''
  }
}
