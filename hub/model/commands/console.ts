import type { ModelTool } from '../../core/model.ts'
import { toPattern } from '../../core/text.ts'
import { choicesOf } from './fields.ts'
import { type Plan, planCall } from './plan.ts'
import { fold } from './words.ts'

/** Commands that the consoles of games know; "tell everyone" becomes "say". */
const COMMANDS =
  /^(?:whitelist (?:add|remove)|kick|ban|pardon|op|deop|tp|give(?! me)|gamemode|weather|difficulty|say|set the time to|time set|save-all|tell everyone|announce)(?!\p{L})/u

/** Plans a command for the console of the one game server that is named, as a call that waits for a yes. */
export function planConsole(text: string, tools: readonly ModelTool[]): Plan | undefined {
  const tool = tools.find(({ name }) => name === 'run_game_command')
  const lead = COMMANDS.exec(fold(text))?.[0]
  if (!tool || lead === undefined) return undefined
  const [server, ...others] = serversIn(text, tools)
  if (server === undefined || others.length > 0) return undefined
  const place = new RegExp(
    `\\s*(?:on|from|in|to|at|auf|von|aus)?\\s*(?:the |dem |der )?${toPattern(server)}(?:[ -]?server)?(?: chat)?(?!\\p{L})`,
    'iu',
  )
  const said = text.replace(place, '').replace(/\s*(?:please|pls)?[.!]*$/iu, '')
  const command = said
    .replaceAll(/["“”]/g, '')
    .replace(/^(?:tell everyone|announce|say)\s+(?:that\s+)?/iu, 'say ')
    .replace(/^set the time to/iu, 'time set')
  return planCall(tool, { server, command })
}

/** Returns the names of game servers in a text, as the tools' schemas list them. */
export function serversIn(text: string, tools: readonly ModelTool[]): string[] {
  const lists = tools.map(({ inputSchema }) => choicesOf(inputSchema, 'server'))
  const names = lists.find(each => each.length > 0) ?? []
  const folded = fold(text)
  return names.filter(name =>
    new RegExp(`(?<![\\p{L}\\p{N}])${toPattern(fold(name))}(?![\\p{L}\\p{N}])`, 'u').test(folded),
  )
}
