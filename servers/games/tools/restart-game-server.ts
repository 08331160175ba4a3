import { z } from 'zod'
import { tenths } from '../../kit/fields.ts'
import { foreignText } from '../../kit/foreign.ts'
import { quote, toSpanText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { awaitAnswer, type Started, toStartedFields } from './await-answer.ts'
import { endingInput, endingOutput, prepareEnd, toFarewellFields } from './ending.ts'
import { toPlayersText } from './presence.ts'
import { requireGameAccess } from './server-field.ts'
import type { EndingDeps } from './stop-game-server.ts'

/** Limit of the call in milliseconds; the game's own settings limit the warning, the stop and the start. */
const LIMIT = 4 * 3_600_000

/** `restart_game_server`: stops and starts a game server, and waits until it answers. */
export function restartGameServer({ games, ends, clock }: EndingDeps): Tool {
  return defineTool({
    name: 'restart_game_server',
    title: 'Restart a game server',
    description:
      'Restarts a game server and waits until it answers; may take minutes. While players are online it ' +
      'only says who they are, unless confirm is true; then it warns them and waits warnSeconds first. ' +
      'Starts one that does not run.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    input: endingInput(games),
    output: z.object({
      ...endingOutput,
      restarted: z.boolean(),
      answers: z
        .boolean()
        .optional()
        .describe('whether it answers queries again; absent: it cannot be asked'),
      seconds: tenths().optional().describe('from the start to the answer'),
      problem: foreignText(300, 'why it does not answer').optional(),
    }),
    limit: LIMIT,
    async run({ server, confirm, warnSeconds }, signal, report) {
      const game = await games.pick(server, signal)
      requireGameAccess(game, 'full')
      const { name, backend } = game
      const base = { server: name, warned: false, restarted: false }
      const ending = { verb: 'restart', confirm, warnSeconds, clock, signal, report }
      const farewell = await prepareEnd(game, await backend.state(signal), ending)
      if ('data' in farewell) return { ...farewell, data: { ...base, ...farewell.data } }
      report(farewell.seconds + 1, farewell.seconds + 1 + game.startSeconds, `restarting ${name}`)
      await ends.during(name, () => backend.restart(game.stopSeconds, signal))
      const before = await backend.state(signal)
      const waiting = { clock, signal, report, reported: farewell.seconds + 1 }
      const started = await awaitAnswer(game, before, waiting)
      return {
        data: {
          ...base,
          ...toFarewellFields(farewell),
          ...toStartedFields(started),
          done: true,
          restarted: true,
        },
        text: `${name} was restarted. ${farewell.said} ${toAnswerText(started)}`,
      }
    },
  })
}

function toAnswerText(started: Started): string {
  const span = toSpanText(started.milliseconds / 1000)
  switch (started.kind) {
    case 'answers':
      return `It answers again after ${span}: ${toPlayersText(started.status)}.`
    case 'runs':
      return 'It runs; whether players can join is not known.'
    case 'silent':
      return `It runs, but did not answer within ${span}: ${quote(started.why, 300)}.`
    default:
      return started satisfies never
  }
}
