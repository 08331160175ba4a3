import { z } from 'zod'
import { ToolFailure } from '../../kit/failure.ts'
import { foreignLines } from '../../kit/foreign.ts'
import { toListText } from '../../kit/render.ts'
import { fence, quote } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { decideCommand } from '../allowed-commands.ts'
import type { Console, Game } from '../game.ts'
import type { Games } from '../games.ts'
import { requireGameAccess, serverField } from './server-field.ts'

const SHOWN_GLOBS = 30

const output = z.object({
  server: z.string(),
  command: z.string().describe('as it was sent'),
  answer: foreignLines({}, 'what the game printed; empty where it printed nothing'),
})

/** `run_game_command`: sends one command of the server's allow-list to the game's own console. */
export function runGameCommand({ games }: { games: Pick<Games, 'declared' | 'pick'> }): Tool {
  return defineTool({
    name: 'run_game_command',
    title: 'Run a game command',
    description:
      "Sends one command to a game server's console (RCON) and gives its answer: tell players something, " +
      'list, kick, ban, change a rule. Only commands that the owner allowed; a refusal lists them. Cannot ' +
      'be undone from here. To stop a server use stop_game_server.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    input: z.strictObject({
      server: serverField(games),
      command: z.string().min(1).max(1000).describe('one line: "say Restart at eight"'),
    }),
    output,
    async run({ server, command }, signal) {
      const game = await games.pick(server, signal)
      requireGameAccess(game, 'change')
      const console = requireConsole(game)
      const verdict = decideCommand(command, console.kind, game.commands)
      if (!verdict.allowed) throw notAllowed(game, command, verdict.why)
      const lines = await console.send(verdict.command, signal)
      const data = { server: game.name, command: verdict.command, answer: lines.join('\n') }
      const sent = `${game.title} ran ${quote(verdict.command, 400)}`
      if (lines.length === 0) return { data, text: `${sent} and printed nothing.`, untrusted: false }
      return { data, text: `${sent} and printed:\n${fence(data.answer)}` }
    },
  })
}

function requireConsole({ name, title, console }: Game): Console {
  if (console) return console
  throw new ToolFailure({
    what: `${title} has no console that takes commands.`,
    where: `console of ${name}`,
    why: 'neither the config nor the label superbloom.game.console names one',
    fix: 'Ask the owner to switch on RCON in the game and to add the console (kind, host, port, password) to its settings.',
  })
}

function notAllowed({ name, title, commands }: Game, command: string, why: string): ToolFailure {
  const allowed =
    commands.length === 0
      ? 'Nothing is allowed yet: ask the owner to list commands under commands in its settings, such as "status" or "say *".'
      : `Allowed are ${toListText(commands, SHOWN_GLOBS, glob => quote(glob, 100))}, where * stands for any text. For others ask the owner to change commands in its settings.`
  return new ToolFailure({
    what: `The command ${quote(command, 100)} was not sent to ${title}.`,
    where: `commands of ${name}`,
    why,
    fix: allowed,
  })
}
