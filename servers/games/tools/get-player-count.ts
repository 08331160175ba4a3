import { z } from 'zod'
import { toReason } from '../../kit/ask-all.ts'
import type { Clock } from '../../kit/clock.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { foreignText } from '../../kit/foreign.ts'
import { toListText } from '../../kit/render.ts'
import { quote, toCountText } from '../../kit/text.ts'
import { type DataOf, defineTool, type Tool } from '../../kit/tool.ts'
import type { Game } from '../game.ts'
import type { Games } from '../games.ts'
import { askRunning } from '../upstreams/ask-running.ts'
import { serverField } from './server-field.ts'

const SHOWN_NAMES = 50

const row = z.object({
  server: z.string(),
  title: z.string(),
  players: z.int().optional().describe('people who play now; absent: not known, see unknown'),
  maxPlayers: z.int().optional(),
  bots: z.int().optional().describe('not counted as players'),
  names: z
    .array(foreignText(60))
    .optional()
    .describe('who plays; may be fewer than players; absent: the game gives no names'),
  map: foreignText(100).optional(),
  pingMs: z.number().optional().describe('milliseconds from question to answer'),
  stopped: z.boolean().optional().describe('true: it does not run, so nobody plays'),
  unknown: z.string().optional().describe('why it is not known who plays'),
})
const output = z.object({
  servers: z.array(row),
  totalPlayers: z.int().describe('on all of these where it is known'),
})
type Row = DataOf<typeof row>

/** `get_player_count`: asks the games themselves who plays. */
export function getPlayerCount(deps: {
  games: Pick<Games, 'declared' | 'list' | 'pick'>
  clock: Clock
}): Tool {
  const { games, clock } = deps
  return defineTool({
    name: 'get_player_count',
    title: 'Player count',
    description:
      'How many people play on a game server now, bots apart, and their names; without server on all of ' +
      'them. Call it before stopping or restarting one.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input: z.strictObject({
      server: serverField(games).optional(),
    }),
    output,
    async run({ server }, signal) {
      const servers =
        server === undefined
          ? await askEach(await games.list(signal), clock, signal)
          : [await ask(await games.pick(server, signal), clock, signal)]
      const totalPlayers = servers.reduce((sum, { players = 0 }) => sum + players, 0)
      return {
        data: { servers, totalPlayers },
        text: [
          servers.length === 0 && 'There are no game servers here.',
          servers.length > 1 &&
            `${toCountText(totalPlayers, 'player')} on ${toCountText(servers.length, 'server')}:`,
          servers.map(toLine),
        ],
        untrusted: servers.some(({ names, map }) => (names?.length ?? 0) > 0 || map !== undefined),
      }
    },
  })
}

function askEach(all: readonly Game[], clock: Clock, signal: AbortSignal): Promise<Row[]> {
  return Promise.all(
    all.map(game =>
      ask(game, clock, signal).catch((error: unknown): Row => {
        signal.throwIfAborted()
        return { server: game.name, title: game.title, unknown: toReason(error, game.name) }
      }),
    ),
  )
}

async function ask(game: Game, clock: Clock, signal: AbortSignal): Promise<Row> {
  const { name: server, title, query } = game
  if (!query) throw noQuery(game)
  const status = await askRunning(game, query, clock, signal)
  if (!status) return { server, title, players: 0, names: [], stopped: true }
  const { players, maxPlayers, bots, names, map, ping } = status
  return { server, title, players, maxPlayers, bots, names, map, pingMs: ping }
}

function noQuery({ name, title }: Game): ToolFailure {
  return new ToolFailure({
    what: `Nobody can tell who plays on ${title}: it has no query.`,
    where: `query of ${name}`,
    why: 'neither the config nor the label superbloom.game.query says how the game is asked',
    fix: 'Ask the owner to add a query (type, host, port) to its settings; types are those of gamedig, such as minecraft or q3a.',
  })
}

function toLine({ server, title, players, maxPlayers, bots = 0, names, stopped, unknown }: Row): string {
  const game = title === server ? server : `${title} (${server})`
  if (stopped) return `0 players on ${game}: it does not run.`
  if (players === undefined) return `Not known who plays on ${game}: ${unknown}`
  const most = maxPlayers === undefined ? '' : ` of at most ${maxPlayers}`
  const beside = bots === 0 ? '' : `, and ${toCountText(bots, 'bot')}`
  return `${toCountText(players, 'player')}${most} on ${game}${beside}${toNameText(players, names)}.`
}

function toNameText(players: number, names: Row['names'] = []): string {
  if (players === 0) return ''
  if (names.length === 0) return '; the game gives no names'
  return `: ${toListText(names, SHOWN_NAMES, name => quote(name, 60), players)}`
}
