import { z } from 'zod'
import { ACCESS_LEVELS } from '../../kit/access.ts'
import type { Clock } from '../../kit/clock.ts'
import { foreignText } from '../../kit/foreign.ts'
import { quote, toByteText, toCountText, toPercentText, toTenth, toTimeText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { bounded } from '../bounded.ts'
import type { BackendState, Game } from '../game.ts'
import type { Games } from '../games.ts'
import { type Presence, readPresence, toPlayersText } from './presence.ts'
import { serverField } from './server-field.ts'
import { toStateText } from './state-text.ts'

const QUERY_LIMIT = 4000
const USE_LIMIT = 4000
const MOST_NAMES = 100
const time = z.number().optional().describe('unix milliseconds')

const output = z.object({
  server: z.string(),
  title: foreignText(100),
  kind: z.enum(['docker', 'systemd', 'process', 'kubernetes']).describe('what it runs in'),
  where: z.string().describe('its container, unit, command or workload'),
  access: z.enum(ACCESS_LEVELS).describe('what tools may do: only look, also start, also stop'),
  state: z.enum(['running', 'starting', 'stopped', 'failed', 'missing']),
  detail: foreignText(200, 'more about the state'),
  startedAt: time,
  stoppedAt: time,
  exitCode: z.int().optional().describe('of its last end; absent while it runs'),
  oom: z.boolean().describe('true: its last end was for using too much memory'),
  restarts: z.int().optional().describe('how often it was started anew by itself; absent: nobody counts'),
  health: z
    .enum(['starting', 'healthy', 'unhealthy'])
    .optional()
    .describe('of its health check, if it has one'),
  use: z
    .object({ cpuPercent: z.number().describe('of one core, so it may exceed 100'), memoryBytes: z.number() })
    .optional(),
  query: z
    .object({
      where: z.string(),
      answers: z.boolean(),
      problem: foreignText(300, 'why it does not answer').optional(),
      name: foreignText(200).optional(),
      map: foreignText(100).optional(),
      version: foreignText(100).optional(),
      players: z.int().optional().describe('bots not counted'),
      maxPlayers: z.int().optional(),
      bots: z.int().optional(),
      names: z.array(foreignText(60)).optional().describe('absent: the game does not tell'),
      pingMilliseconds: z.number().optional(),
    })
    .optional()
    .describe('absent: it has no query in its settings, or does not run'),
  console: z.string().optional().describe('the kind of its remote console'),
  commands: z.array(z.string()).describe('what run_game_command may send, as globs'),
})
type Details = z.input<typeof output>

/** `get_game_server`: describes one game server in detail. */
export function getGameServer({ games, clock }: { games: Games; clock: Clock }): Tool {
  return defineTool({
    name: 'get_game_server',
    title: 'Game server details',
    description:
      'One game server in detail: whether it is running, uptime, restarts, exit code, health, CPU, memory, players, map, ' +
      'version, ping, allowed commands. For why it is slow or down: diagnose_game_server.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input: z.strictObject({ server: serverField(games) }),
    output,
    async run({ server }, signal) {
      const game = await games.pick(server, signal)
      const state = await game.backend.state(signal)
      const isUp = state.state === 'running' || state.state === 'starting'
      const [presence, use] = isUp
        ? await Promise.all([readPresence(game, QUERY_LIMIT, clock, signal), readUse(game, clock, signal)])
        : [{ kind: 'unasked' } as const, undefined]
      const data = { ...toDetails(game, state), ...toQuery(game, presence), ...(use && { use: toUse(use) }) }
      return { data, text: toText({ game, state, presence, use }, clock.now()) }
    },
  })
}

type Use = { cpuPercent: number; memoryBytes: number }

/** Returns undefined if the backend cannot measure it in time: the rest is worth more than this. */
async function readUse(game: Game, clock: Clock, signal: AbortSignal): Promise<Use | undefined> {
  try {
    return await bounded(inner => game.backend.use(inner), USE_LIMIT, clock, signal)
  } catch {
    signal.throwIfAborted()
    return undefined
  }
}

function toUse({ cpuPercent, memoryBytes }: Use): Use {
  return { cpuPercent: toTenth(cpuPercent), memoryBytes: Math.round(memoryBytes) }
}

function toDetails(game: Game, state: BackendState): Omit<Details, 'query' | 'use'> {
  const { startedAt, stoppedAt, exitCode, restarts, health } = state
  return {
    server: game.name,
    title: game.title,
    kind: game.backend.kind,
    where: game.backend.where,
    access: game.access,
    state: state.state,
    detail: state.detail,
    ...(startedAt !== undefined && { startedAt }),
    ...(stoppedAt !== undefined && { stoppedAt }),
    ...(exitCode !== undefined && { exitCode }),
    oom: state.oom,
    ...(restarts !== undefined && { restarts }),
    ...(health !== undefined && { health }),
    ...(game.console && { console: game.console.kind }),
    commands: [...game.commands],
  }
}

function toQuery({ query }: Game, presence: Presence): Pick<Details, 'query'> {
  if (!query || presence.kind === 'unasked') return {}
  const { where } = query
  if (presence.kind === 'silent') return { query: { where, answers: false, problem: presence.why } }
  const { name, map, version, players, maxPlayers, bots, names, ping } = presence.status
  return {
    query: {
      where,
      answers: true,
      name,
      ...(map !== undefined && { map }),
      ...(version !== undefined && { version }),
      players,
      ...(maxPlayers !== undefined && { maxPlayers }),
      bots,
      ...(names !== undefined && { names: names.slice(0, MOST_NAMES) }),
      pingMilliseconds: Math.round(ping),
    },
  }
}

interface Seen {
  game: Game
  state: BackendState
  presence: Presence
  use: Use | undefined
}

function toText({ game, state, presence, use }: Seen, now: number): string {
  const { name, title, backend } = game
  const { restarts, startedAt, stoppedAt } = state
  const at = stoppedAt ?? (state.state === 'running' ? startedAt : undefined)
  return [
    `${name}${title === name ? '' : ` (${quote(title, 100)})`}: ${toStateText(state, now)}.`,
    `It is the ${backend.where}${at === undefined ? '' : `; ${stoppedAt === undefined ? 'started' : 'ended'} ${toTimeText(at)}`}.`,
    ...(restarts ? [`It was started anew by itself ${toCountText(restarts, 'time')}.`] : []),
    ...(use
      ? [`CPU ${toPercentText(use.cpuPercent)} of a core, memory ${toByteText(use.memoryBytes)}.`]
      : []),
    ...toPresenceLines(presence),
    game.commands.length > 0
      ? `Allowed console commands: ${game.commands.map(command => quote(command, 60)).join(', ')}.`
      : 'No console commands are allowed.',
  ].join('\n')
}

function toPresenceLines(presence: Presence): string[] {
  switch (presence.kind) {
    case 'unasked':
      return []
    case 'silent':
      return [`It does not answer queries: ${quote(presence.why, 300)}.`]
    case 'answers': {
      const { name, map, version, ping } = presence.status
      const facts = [
        name === '' ? undefined : quote(name),
        map === undefined ? undefined : `map ${quote(map, 60)}`,
        version === undefined ? undefined : `version ${quote(version, 60)}`,
      ].filter(fact => fact !== undefined)
      const answer = facts.length > 0 ? `It says: ${facts.join(', ')}. ` : ''
      return [`${answer}${capitalize(toPlayersText(presence.status))}. Ping ${Math.round(ping)} ms.`]
    }
    default:
      return presence satisfies never
  }
}

function capitalize(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}
