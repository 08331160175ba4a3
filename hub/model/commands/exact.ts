import type { ModelTool } from '../../core/model.ts'
import { toPattern } from '../../core/text.ts'
import { choicesOf } from './fields.ts'
import { type Plan, planCall } from './plan.ts'
import { fold, meaningsOf, toWords } from './words.ts'

/** Plans what a fixed form of words asks for exactly; undefined for any other text. */
export function planExact(text: string, tools: readonly ModelTool[]): Plan | undefined {
  return planConsole(text, tools) ?? planSearch(text, tools)
}

/** Commands that the consoles of games know; "tell everyone" becomes "say". */
const COMMANDS =
  /^(?:whitelist (?:add|remove)|kick|ban|pardon|op|deop|tp|give(?! me)|gamemode|weather|difficulty|say|set the time to|time set|save-all|tell everyone|announce)(?!\p{L})/u

/** Plans a command for the console of the one game server that is named, as a call that waits for a yes. */
function planConsole(text: string, tools: readonly ModelTool[]): Plan | undefined {
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

/** A question whether a film or series is there, whose words name no tool. */
const OWNED =
  /^(?:do (?:we|i|you) have|have (?:we|i|you) got|look up|haben wir|hast du|gibt es|est-ce qu(?:e |')(?:on a|nous avons)|tenemos|tienes|abbiamo|hebben we|temos)\s+(?<kind>(?:\p{L}+\s+)?(?:movie|film|series|show|serie)\s+)?(?<title>[^,]+?)(?:,.*|\s+(?:on jellyfin|already|yet))?[\s?!.]*$/iu
/** A wish for a title that may be a film or a series. */
const WANTED =
  /^(?:get|grab|add|request|download) (?:us |me )?(?:the )?(?:(?:new |next |latest )?(?:season|episode)s? of )?(?<title>.+ \(?(?:19|20)\d\d\)?|(?<=(?:season|episode)s? of ).+|.+(?= to (?:radarr|sonarr|jellyfin|seerr|the library)| in (?:4k|hd|1080p)))/iu

/** Searches for the title that a message asks for; undefined where it asks for none or no tool searches. */
function planSearch(text: string, tools: readonly ModelTool[]): Plan | undefined {
  const tool = tools.find(({ name }) => name === 'search_media')
  const { kind, title } = (OWNED.exec(text) ?? WANTED.exec(text))?.groups ?? {}
  if (!tool || title === undefined) return undefined
  // "Do we have any alerts?" asks for something that a tool knows.
  const isTitle = kind !== undefined || toWords(title).every(word => meaningsOf(word).length === 0)
  return isTitle ? planCall(tool, { query: title }) : undefined
}
