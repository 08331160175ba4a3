import { z } from 'zod'
import { ACCESS_LEVELS } from '../../kit/access.ts'
import type { Clock } from '../../kit/clock.ts'
import { withLimit } from '../../kit/clock.ts'
import { tenths } from '../../kit/fields.ts'
import { foreignText } from '../../kit/foreign.ts'
import { known, type Text, toFacts } from '../../kit/render.ts'
import { quote, toByteText, toCountText, toPercentText, toTimeText } from '../../kit/text.ts'
import { type DataOf, defineTool, type Tool } from '../../kit/tool.ts'
import { type BackendState, type Game, isRunning } from '../game.ts'
import type { Games } from '../games.ts'
import { type Presence, readPresence, toPlayersFields, toPlayersText } from './presence.ts'
import { serverField } from './server-field.ts'
import { toStateText } from './state-text.ts'

const QUERY_LIMIT = 4000
const USE_LIMIT = 4000
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
    .object({
      cpuPercent: tenths().describe('of one core, so it may exceed 100'),
      memoryBytes: z.number().overwrite(Math.round),
    })
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
      pingMilliseconds: z.number().overwrite(Math.round).optional(),
    })
    .optional()
    .describe('absent: it has no query in its settings, or does not run'),
  console: z.string().optional().describe('the kind of its remote console'),
  commands: z.array(z.string()).describe('what run_game_command may send, as globs'),
})

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
      const [presence, use] = isRunning(state)
        ? await Promise.all([readPresence(game, QUERY_LIMIT, clock, signal), readUse(game, clock, signal)])
        : [UNASKED, undefined]
      const { name, title, backend, access, commands } = game
      return {
        data: {
          ...state,
          server: name,
          title,
          kind: backend.kind,
          where: backend.where,
          access,
          use,
          query: toQuery(game, presence),
          console: game.console?.kind,
          commands,
        },
        text: toText({ game, state, presence, use }, clock.now()),
      }
    },
  })
}

const UNASKED: Presence = { kind: 'unasked' }

type Use = { cpuPercent: number; memoryBytes: number }

/** Returns undefined if the backend cannot measure it in time: the rest is worth more than this. */
async function readUse(game: Game, clock: Clock, signal: AbortSignal): Promise<Use | undefined> {
  try {
    return await withLimit(inner => game.backend.use(inner), USE_LIMIT, clock, signal)
  } catch {
    signal.throwIfAborted()
    return undefined
  }
}

function toQuery({ query }: Game, presence: Presence): DataOf<typeof output>['query'] {
  if (!query || presence.kind === 'unasked') return undefined
  const { where } = query
  if (presence.kind === 'silent') return { where, answers: false, problem: presence.why }
  const { name, map, version, ping } = presence.status
  return { where, answers: true, name, map, version, ...toPlayersFields(presence), pingMilliseconds: ping }
}

interface Seen {
  game: Game
  state: BackendState
  presence: Presence
  use: Use | undefined
}

function toText({ game, state, presence, use }: Seen, now: number): Text {
  const { name, title, backend } = game
  const { restarts, startedAt, stoppedAt } = state
  const at = stoppedAt ?? (state.state === 'running' ? startedAt : undefined)
  return [
    `${name}${title === name ? '' : ` (${quote(title, 100)})`}: ${toStateText(state, now)}.`,
    `It is the ${backend.where}${at === undefined ? '' : `; ${stoppedAt === undefined ? 'started' : 'ended'} ${toTimeText(at)}`}.`,
    restarts ? `It was started anew by itself ${toCountText(restarts, 'time')}.` : undefined,
    use && `CPU ${toPercentText(use.cpuPercent)} of a core, memory ${toByteText(use.memoryBytes)}.`,
    toPresenceText(presence),
    game.commands.length > 0
      ? `Allowed console commands: ${game.commands.map(command => quote(command, 60)).join(', ')}.`
      : 'No console commands are allowed.',
  ]
}

function toPresenceText(presence: Presence): string | undefined {
  switch (presence.kind) {
    case 'unasked':
      return undefined
    case 'silent':
      return `It does not answer queries: ${quote(presence.why, 300)}.`
    case 'answers': {
      const { name, map, version, ping } = presence.status
      const facts = toFacts([
        name !== '' && quote(name),
        known(map, text => `map ${quote(text, 60)}`),
        known(version, text => `version ${quote(text, 60)}`),
      ])
      const players = toPlayersText(presence.status)
      return `${facts && `It says: ${facts}. `}${players.slice(0, 1).toUpperCase()}${players.slice(1)}. Ping ${Math.round(ping)} ms.`
    }
    default:
      return presence satisfies never
  }
}
