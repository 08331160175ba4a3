import { z } from 'zod'
import { toReason } from '../../kit/ask-all.ts'
import type { Clock } from '../../kit/clock.ts'
import { withLimit } from '../../kit/clock.ts'
import { foreignText } from '../../kit/foreign.ts'
import { page, pageFields, pageOutput, toMoreText } from '../../kit/page.ts'
import { cleanText, quote, toCountText } from '../../kit/text.ts'
import { type DataOf, defineTool, type Tool } from '../../kit/tool.ts'
import { type BackendState, type Game, isRunning } from '../game.ts'
import type { Games } from '../games.ts'
import { type Presence, readPresence, toAnswers, toPlayersFields, toPlayersText } from './presence.ts'
import { toStateText } from './state-text.ts'

const STATE_LIMIT = 4000
const QUERY_LIMIT = 2000

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
      const { games: all, problems } = await games.find(signal)
      const part = page(all, input)
      const described = await Promise.all(part.items.map(game => describe(game, clock, signal)))
      const { items: _, ...paging } = part
      return {
        data: { servers: described.map(({ data }) => data), ...paging, problems },
        text: [
          all.length === 0 ? EMPTY : `${toCountText(all.length, 'game server')}:`,
          described.map(({ text }) => text),
          problems.map(problem => `Problem: ${cleanText(problem, 300)}`),
          toMoreText(part, 'game server'),
        ],
      }
    },
  })
}

const EMPTY =
  'There is no game server: none is listed in GAMES_CONFIG or GAMES_SERVERS, and no container has the label superbloom.game.'
const UNASKED: Presence = { kind: 'unasked' }

async function describe(
  game: Game,
  clock: Clock,
  signal: AbortSignal,
): Promise<{ data: DataOf<typeof server>; text: string }> {
  const { name, title, backend } = game
  const [found, presence] = await Promise.all([
    readState(game, clock, signal),
    readPresence(game, QUERY_LIMIT, clock, signal),
  ])
  const isUnknown = typeof found === 'string'
  const state = isUnknown ? { state: 'unknown' as const, detail: found } : found
  const asked = isUnknown || isRunning(found) ? presence : UNASKED
  const shown = title === name ? name : `${name} (${quote(title, 100)})`
  const said = isUnknown ? `state unknown, ${cleanText(found)}` : toStateText(found, clock.now())
  return {
    data: {
      server: name,
      title,
      kind: backend.kind,
      state: state.state,
      detail: state.detail,
      answers: toAnswers(asked),
      ...toPlayersFields(asked),
    },
    text: `${shown}: ${said}${toPresenceText(asked)}`,
  }
}

async function readState(game: Game, clock: Clock, signal: AbortSignal): Promise<BackendState | string> {
  try {
    return await withLimit(inner => game.backend.state(inner), STATE_LIMIT, clock, signal)
  } catch (error) {
    signal.throwIfAborted()
    return toReason(error, game.backend.where)
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
