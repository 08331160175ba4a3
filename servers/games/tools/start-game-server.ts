import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import { tenths } from '../../kit/fields.ts'
import { foreignText } from '../../kit/foreign.ts'
import { toFacts } from '../../kit/render.ts'
import { quote, toSpanText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import type { Game } from '../game.ts'
import type { Games } from '../games.ts'
import { awaitAnswer, type Started, toStartedFields } from './await-answer.ts'
import { readPresence, toAnswers, toPlayersFields, toPlayersText } from './presence.ts'
import { requireGameAccess, serverField } from './server-field.ts'

/** Limit of the call in milliseconds; each game has its own limit in its settings, an hour at most. */
const LIMIT = 2 * 3_600_000
const QUERY_LIMIT = 3000

const output = z.object({
  server: z.string(),
  started: z.boolean().describe('false: it ran already'),
  answers: z.boolean().optional().describe('whether the game answers queries; absent: it cannot be asked'),
  players: z.int().optional(),
  seconds: tenths().optional().describe('from the start to the answer'),
  problem: foreignText(300, 'why it does not answer').optional(),
})
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
      const started = await awaitAnswer(game, before, { clock, signal, report })
      return {
        data: {
          server: game.name,
          started: true,
          ...toStartedFields(started),
          players: started.kind === 'answers' ? started.status.players : undefined,
        },
        text: toStartedText(game, started),
      }
    },
  })
}

async function toRanAlready(game: Game, clock: Clock, signal: AbortSignal) {
  const { name } = game
  const presence = await readPresence(game, QUERY_LIMIT, clock, signal)
  const silent =
    presence.kind === 'silent' &&
    `But it does not answer: ${quote(presence.why, 300)}. It may still be starting; diagnose_game_server looks for causes.`
  return {
    data: {
      server: name,
      started: false,
      answers: toAnswers(presence),
      players: toPlayersFields(presence).players,
      problem: presence.kind === 'silent' ? presence.why : undefined,
    },
    text: toFacts(
      [
        `${name} runs already; nothing was done.`,
        silent,
        presence.kind === 'answers' && `It answers: ${toPlayersText(presence.status)}.`,
      ],
      ' ',
    ),
  }
}

function toStartedText({ name }: Game, started: Started): string {
  const span = toSpanText(started.milliseconds / 1000)
  switch (started.kind) {
    case 'answers':
      return `${name} was started and answers after ${span}: ${toPlayersText(started.status)}.`
    case 'runs':
      return `${name} was started and runs. Whether players can join is not known: it has no query in its settings.`
    case 'silent':
      return `${name} was started and runs, but did not answer within ${span}: ${quote(started.why, 300)}. It may need longer (startSeconds in its settings); get_game_server_logs shows what it does.`
    default:
      return started satisfies never
  }
}
