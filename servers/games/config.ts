import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { z } from 'zod'
import type { Access } from '../kit/access.ts'
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
import { type BackendSettings, type GameEntry, gamesFile } from './declaration.ts'
import type { ConsoleSettings } from './upstreams/console.ts'
import type { QuerySettings } from './upstreams/query.ts'

/** One game server's settings, from the config or from labels. */
export interface GameSettings {
  name: string
  title: string
  backend: BackendSettings
  query: QuerySettings | undefined
  console: ConsoleSettings | undefined
  commands: readonly string[]
  access: Access
  startSeconds: number
  stopSeconds: number
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

const table = {
  GAMES_DISCOVER: switchSetting({
    purpose: 'whether containers with the label superbloom.game are game servers too',
    default: true,
  }),
  GAMES_HOST: textSetting({
    purpose: 'the host that answers queries and console commands where none is named (default 127.0.0.1)',
    form: 'a host name or an address',
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
  const host = GAMES_HOST ?? '127.0.0.1'
  const source = readSource(environment)
  return {
    declared: source === undefined ? [] : await readDeclared(source, environment, host),
    discover: GAMES_DISCOVER,
    host,
    playersInterval: GAMES_PLAYERS_INTERVAL,
    stopsFile: SUPERBLOOM_DATA === undefined ? undefined : resolve(SUPERBLOOM_DATA, 'games.json'),
    passwordOf: game => readRaw(toPasswordVariable(game), environment).text,
  }
}

/** Returns `GAMES_PASSWORD_ATM_10` for "atm-10". */
export function toPasswordVariable(game: string): string {
  return `GAMES_PASSWORD_${game.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`
}

interface Source {
  /** The source in messages: "GAMES_CONFIG /etc/games.yaml". */
  where: string
  text: string
}

function readSource(environment: Environment): Source | undefined {
  const file = readRaw('GAMES_CONFIG', environment)
  const inline = readRaw('GAMES_SERVERS', environment)
  const problems = [file.problem, inline.problem].filter(problem => problem !== undefined)
  if (file.text !== undefined && inline.text !== undefined) {
    problems.push('GAMES_CONFIG and GAMES_SERVERS are both set; unset one of them.')
  }
  if (problems.length > 0) throw new SettingsError(problems)
  if (inline.text !== undefined) return { where: 'GAMES_SERVERS', text: inline.text }
  if (file.text === undefined) return undefined
  try {
    return { where: `GAMES_CONFIG ${file.text}`, text: readFileSync(file.text, 'utf8') }
  } catch (error) {
    throw new SettingsError([
      `GAMES_CONFIG is "${file.text}", which cannot be read (${describeError(error)}). It must be the path of a YAML or JSON file that lists the game servers.`,
    ])
  }
}

async function readDeclared(
  { where, text }: Source,
  environment: Environment,
  host: string,
): Promise<GameSettings[]> {
  const problems: string[] = []
  const value = interpolate(await parseText(where, text), [], environment, problems)
  const wrapped = where === 'GAMES_SERVERS' && !hasServers(value) ? { servers: value } : value
  const parsed = gamesFile.safeParse(wrapped)
  if (!parsed.success) problems.push(...parsed.error.issues.flatMap(toProblems))
  if (!parsed.success || problems.length > 0) {
    throw new SettingsError(problems.map(problem => `${where}: ${problem}`))
  }
  const games = Object.entries(parsed.data.servers).map(([name, entry]) =>
    toGameSettings(name, entry, host, problems),
  )
  if (problems.length > 0) throw new SettingsError(problems.map(problem => `${where}: ${problem}`))
  return games
}

/** Parses JSON without the YAML parser, which takes a while to load. */
async function parseText(where: string, text: string): Promise<unknown> {
  try {
    return JSON.parse(text)
  } catch (notJson) {
    const { parse } = await import('yaml')
    try {
      return parse(text, { prettyErrors: true })
    } catch (error) {
      const reason = text.trimStart().startsWith('{') ? notJson : error
      throw new SettingsError([`${where} is neither YAML nor JSON: ${describeError(reason)}`])
    }
  }
}

function hasServers(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'servers' in value
}

/** Replaces `${NAME}` in every text by the variable, or by the content of the file that `NAME_FILE` names. */
function interpolate(
  value: unknown,
  path: readonly string[],
  environment: Environment,
  problems: string[],
): unknown {
  if (typeof value === 'string') {
    return value.replace(/\$\{([A-Za-z_]\w*)\}/g, (_whole, name: string) => {
      const { text, problem } = readRaw(name, environment)
      if (text === undefined) {
        problems.push(
          `${path.join('.')}: ${problem ?? `the environment has no ${name}; set it or write the value`}`,
        )
      }
      return text ?? ''
    })
  }
  if (Array.isArray(value)) {
    return value.map((inner, index) => interpolate(inner, [...path, String(index)], environment, problems))
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      interpolate(inner, [...path, key], environment, problems),
    ]),
  )
}

function toProblems(issue: z.core.$ZodIssue): string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(key => `${[...issue.path, key].join('.')}: no such key`)
  }
  if (issue.code === 'invalid_key') {
    const reason = issue.issues[0]?.message ?? 'no such name'
    return [`${issue.path.join('.')}: ${reason}`]
  }
  return [`${issue.path.join('.') || 'the whole'}: ${issue.message}`]
}

function toGameSettings(name: string, entry: GameEntry, host: string, problems: string[]): GameSettings {
  const { title = name, query } = entry
  return {
    ...entry,
    name,
    title,
    query: query && { ...query, host: query.host ?? host },
    console: toConsoleSettings(name, entry, host, problems),
  }
}

function toConsoleSettings(
  name: string,
  { console: entry }: GameEntry,
  host: string,
  problems: string[],
): ConsoleSettings | undefined {
  if (!entry) return undefined
  const { password, passwordFile, ...rest } = entry
  return {
    ...rest,
    host: entry.host ?? host,
    password: password ?? readPassword(name, passwordFile, problems),
  }
}

function readPassword(name: string, file: string | undefined, problems: string[]): string {
  try {
    const password = readFileSync(file ?? '', 'utf8').trim()
    if (password === '') problems.push(`servers.${name}.console.passwordFile: ${file} is empty`)
    return password
  } catch (error) {
    problems.push(`servers.${name}.console.passwordFile: it cannot be read: ${describeError(error)}`)
    return ''
  }
}
