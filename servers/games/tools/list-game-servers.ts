import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import { toFailure } from '../../kit/failure.ts'
import { foreignText } from '../../kit/foreign.ts'
import { page, pageFields, pageOutput, toMoreText } from '../../kit/page.ts'
import { cleanText, quote, toCountText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { bounded } from '../bounded.ts'
import type { BackendState, Game } from '../game.ts'
import type { Games } from '../games.ts'
import { type Presence, readPresence, toPlayersText } from './presence.ts'
import { toStateText } from './state-text.ts'

const STATE_LIMIT = 4000
const QUERY_LIMIT = 2000
const MOST_NAMES = 100

const server = z.object({
  server: z.string().describe('its name, for the argument server of the other tools'),
  title: foreignText(100),
  kind: z.enum(['docker', 'systemd', 'process', 'kubernetes']).describe('what it runs in'),
  state: z.enum(['running', 'starting', 'stopped', 'failed', 'missing', 'unknown']),
  detail: foreignText(200, 'more about the state'),
  answers: z.boolean().optional().describe('whether the game answers; absent where it was not asked'),
  players: z.int().optional().describe('who play now, bots not counted; absent: unknown'),
  maxPlayers: z.int().optional(),
  names: z.array(foreignText(60)).optional().describe('who plays, where the game tells'),
})
const output = z.object({
  servers: z.array(server),
  ...pageOutput,
  problems: z.array(foreignText(300)).describe('what keeps servers from this list'),
})
type Listed = z.input<typeof server>

/** `list_game_servers`: lists the game servers, whether they run, and who plays. */
export function listGameServers({ games, clock }: { games: Games; clock: Clock }): Tool {
  return defineTool({
    name: 'list_game_servers',
    title: 'Game servers',
    description:
      'Lists which game servers there are and which are running, how many play and who. Call it first for ' +
      'any question about game servers, and for the names that the other tools take.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input: z.strictObject(pageFields(50)),
    output,
    async run(input, signal) {
      const { games: all, problems } = await games.look(signal)
      const part = page(all, input)
      const looks = await Promise.all(part.items.map(game => lookAt(game, clock, signal)))
      const { items: _, ...paging } = part
      return {
        data: { servers: looks.map(({ data }) => data), ...paging, problems },
        text: [
          all.length === 0 ? toEmptyText() : `${toCountText(all.length, 'game server')}:`,
          ...looks.map(({ text }) => text),
          ...problems.map(problem => `Problem: ${cleanText(problem, 300)}`),
          toMoreText(part, 'game server') ?? '',
        ]
          .join('\n')
          .trim(),
      }
    },
  })
}

function toEmptyText(): string {
  return 'There is no game server: none is listed in GAMES_CONFIG or GAMES_SERVERS, and no container has the label superbloom.game.'
}

async function lookAt(
  game: Game,
  clock: Clock,
  signal: AbortSignal,
): Promise<{ data: Listed; text: string }> {
  const { name, title, backend } = game
  const [state, presence] = await Promise.all([
    readState(game, clock, signal),
    readPresence(game, QUERY_LIMIT, clock, signal),
  ])
  const shown = title === name ? name : `${name} (${quote(title, 100)})`
  const base = { server: name, title, kind: backend.kind }
  if (typeof state === 'string') {
    const data = { ...base, state: 'unknown' as const, detail: state, ...toPresence(presence) }
    return { data, text: `${shown}: state unknown, ${cleanText(state)}${toPresenceText(presence)}` }
  }
  const asked = state.state === 'running' || state.state === 'starting' ? presence : UNASKED
  return {
    data: { ...base, state: state.state, detail: state.detail, ...toPresence(asked) },
    text: `${shown}: ${toStateText(state, clock.now())}${toPresenceText(asked)}`,
  }
}

const UNASKED: Presence = { kind: 'unasked' }

async function readState(game: Game, clock: Clock, signal: AbortSignal): Promise<BackendState | string> {
  try {
    return await bounded(inner => game.backend.state(inner), STATE_LIMIT, clock, signal)
  } catch (error) {
    signal.throwIfAborted()
    const { what, why } = toFailure(error, game.backend.where)
    return `${what} ${why}`
  }
}

function toPresence(presence: Presence): Pick<Listed, 'answers' | 'players' | 'maxPlayers' | 'names'> {
  switch (presence.kind) {
    case 'unasked':
      return {}
    case 'silent':
      return { answers: false }
    case 'answers': {
      const { players, maxPlayers, names } = presence.status
      return {
        answers: true,
        players,
        ...(maxPlayers !== undefined && { maxPlayers }),
        ...(names !== undefined && { names: names.slice(0, MOST_NAMES) }),
      }
    }
    default:
      return presence satisfies never
  }
}

function toPresenceText(presence: Presence): string {
  switch (presence.kind) {
    case 'unasked':
      return ''
    case 'silent':
      return '; it does not answer queries'
    case 'answers':
      return `; ${toPlayersText(presence.status)}`
    default:
      return presence satisfies never
  }
}
