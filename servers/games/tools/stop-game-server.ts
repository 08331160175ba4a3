import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import type { Games } from '../games.ts'
import type { RequestedEnds } from '../requested-ends.ts'
import { endingInput, endingOutput, prepareEnd, toFarewellFields } from './ending.ts'
import { requireGameAccess } from './server-field.ts'

/** Limit of the call in milliseconds; the settings limit the warning and the game's own time to stop. */
const LIMIT = 2 * 3_600_000

export interface EndingDeps {
  games: Games
  ends: RequestedEnds
  clock: Clock
}

/** `stop_game_server`: stops a game server, after a warning to its players. */
export function stopGameServer({ games, ends, clock }: EndingDeps): Tool {
  return defineTool({
    name: 'stop_game_server',
    title: 'Stop a game server',
    description:
      'Stops a game server; it can be started again. While players are online it only says who they are, ' +
      'unless confirm is true; then it warns them in the game, waits warnSeconds and stops. Confirm only ' +
      'if the person who asked knows of the players.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    input: endingInput(games),
    output: z.object({
      ...endingOutput,
      stopped: z.boolean().describe('false: it did not run, or nothing was done'),
    }),
    limit: LIMIT,
    async run({ server, confirm, warnSeconds }, signal, report) {
      const game = await games.pick(server, signal)
      requireGameAccess(game, 'full')
      const { name, backend } = game
      const base = { server: name, warned: false, stopped: false }
      const before = await backend.state(signal)
      if (before.state === 'missing' || before.state === 'stopped') {
        const why = before.state === 'missing' ? `there is no ${backend.where}` : 'it is stopped already'
        return {
          data: { ...base, done: true },
          text: `${name} was not stopped: ${why}.`,
          untrusted: false,
        }
      }
      const ending = { verb: 'stop', confirm, warnSeconds, clock, signal, report }
      const farewell = await prepareEnd(game, before, ending)
      if ('data' in farewell) return { ...farewell, data: { ...base, ...farewell.data } }
      report(farewell.seconds + 1, farewell.seconds + 2, `stopping ${name}`)
      const stopped = await ends.during(name, () => backend.stop(game.stopSeconds, signal))
      return {
        data: { ...base, ...toFarewellFields(farewell), done: true, stopped },
        text: stopped
          ? `${name} was stopped. ${farewell.said}`
          : `${name} had ended already; nothing was done.`,
      }
    },
  })
}
