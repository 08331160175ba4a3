import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import { foreignText } from '../../kit/foreign.ts'
import { quote, toSpanText, toTenth } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import type { Game } from '../game.ts'
import type { Games } from '../games.ts'
import { awaitAnswer, type Started } from './await-answer.ts'
import { readPresence, toPlayersText } from './presence.ts'
import { requireGameAccess, serverField } from './server-field.ts'

/** Limit of the call in milliseconds; each game has its own limit in its settings, an hour at most. */
const LIMIT = 2 * 3_600_000
const QUERY_LIMIT = 3000

const output = z.object({
  server: z.string(),
  started: z.boolean().describe('false: it ran already'),
  answers: z.boolean().optional().describe('whether the game answers queries; absent: it cannot be asked'),
  players: z.int().optional(),
  seconds: z.number().optional().describe('from the start to the answer'),
  problem: foreignText(300, 'why it does not answer').optional(),
})
type Outcome = { data: z.input<typeof output>; text: string }

/** `start_game_server`: starts a game server and waits until it answers. */
export function startGameServer({ games, clock }: { games: Games; clock: Clock }): Tool {
  return defineTool({
    name: 'start_game_server',
    title: 'Start a game server',
    description:
      'Starts a game server and waits until players can join, which may take minutes. One that runs is ' +
      'left alone. If it ends right away, the failure has exit code and last log lines.',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input: z.strictObject({ server: serverField(games) }),
    output,
    limit: LIMIT,
    async run({ server }, signal, report) {
      const game = await games.pick(server, signal)
      requireGameAccess(game, 'change')
      const before = await game.backend.state(signal)
      report(0, game.startSeconds, `starting ${game.name}`)
      if (!(await game.backend.start(signal))) return toRanAlready(game, clock, signal)
      return toStarted(game, await awaitAnswer(game, before, { clock, signal, report }))
    },
  })
}

async function toRanAlready(game: Game, clock: Clock, signal: AbortSignal): Promise<Outcome> {
  const { name } = game
  const presence = await readPresence(game, QUERY_LIMIT, clock, signal)
  const said = `${name} runs already; nothing was done.`
  switch (presence.kind) {
    case 'unasked':
      return { data: { server: name, started: false }, text: said }
    case 'silent':
      return {
        data: { server: name, started: false, answers: false, problem: presence.why },
        text: `${said} But it does not answer: ${quote(presence.why, 300)}. It may still be starting; diagnose_game_server looks for causes.`,
      }
    case 'answers': {
      const { players } = presence.status
      return {
        data: { server: name, started: false, answers: true, players },
        text: `${said} It answers: ${toPlayersText(presence.status)}.`,
      }
    }
    default:
      return presence satisfies never
  }
}

function toStarted(game: Game, started: Started): Outcome {
  const { name } = game
  const span = toSpanText(started.milliseconds / 1000)
  const base = { server: name, started: true, seconds: toTenth(started.milliseconds / 1000) }
  switch (started.kind) {
    case 'answers': {
      const { players } = started.status
      return {
        data: { ...base, answers: true, players },
        text: `${name} was started and answers after ${span}: ${toPlayersText(started.status)}.`,
      }
    }
    case 'runs':
      return {
        data: base,
        text: `${name} was started and runs. Whether players can join is not known: it has no query in its settings.`,
      }
    case 'silent':
      return {
        data: { ...base, answers: false, problem: started.why },
        text: `${name} was started and runs, but did not answer within ${span}: ${quote(started.why, 300)}. It may need longer (startSeconds in its settings); get_game_server_logs shows what it does.`,
      }
    default:
      return started satisfies never
  }
}
