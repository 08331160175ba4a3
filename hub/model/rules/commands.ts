import { plural, truncate } from '../../core/text.ts'
import { type Catalogue, findTool, hiddenTool, isMetaTool, type KnownTool, LEAN_TOOLS } from './catalogue.ts'
import type { Field } from './fields.ts'
import { findJsonError } from './json-error.ts'
import { matchTools } from './match-tools.ts'
import { sayHelp, toLine } from './phrases.ts'
import { isRecord } from './questions.ts'
import { isTypo, withoutMentions } from './words.ts'

/** What a message that begins with a slash asks for. */
export type Command =
  | { kind: 'say'; text: string }
  | { kind: 'call'; tool: KnownTool; arguments: Record<string, unknown> }

const MOST_LISTED = 80
const COMMANDS = ['/help', '/tools', '/call']

/** `/call tool {json}`, `/tools [filter]`, `/help`; undefined for what is no command. */
export function readCommand(text: string, catalogue: Catalogue): Command | undefined {
  const [, word = '', rest = ''] =
    /^\/([a-z]\w*)(?![\w/.])\s*(.*)$/is.exec(withoutMentions(text).trim()) ?? []
  switch (word.toLowerCase()) {
    case '':
      return undefined
    case 'help':
      return { kind: 'say', text: sayHelp(catalogue) }
    case 'tools':
      return { kind: 'say', text: sayTools(rest.trim(), catalogue) }
    case 'call':
      return readCall(rest, catalogue)
    default:
      return {
        kind: 'say',
        text: `I know no command /${truncate(word, 40)}. There are ${COMMANDS.join(', ')}.`,
      }
  }
}

function readCall(rest: string, catalogue: Catalogue): Command {
  const [, name = '', json = ''] = /^`?([^\s{`]+)`?\s*(.*)$/s.exec(rest.trim()) ?? []
  if (name === '') {
    return {
      kind: 'say',
      text: 'Say which tool and with what: `/call get_processes {"limit": 5}`. /tools lists them.',
    }
  }
  const tool =
    findTool(catalogue, name) ?? (catalogue.lean && /^[\w-]{1,64}$/.test(name) ? hiddenTool(name) : undefined)
  if (!tool) return { kind: 'say', text: sayUnknown(name, catalogue) }
  const parsed = readArguments(json.trim())
  return 'problem' in parsed
    ? {
        kind: 'say',
        text: `The arguments of \`${name}\` are no JSON object: ${parsed.problem} They look like \`{"name": "value"}\`.`,
      }
    : { kind: 'call', tool, arguments: parsed.values }
}

function readArguments(json: string): { values: Record<string, unknown> } | { problem: string } {
  if (json === '') return { values: {} }
  try {
    const value: unknown = JSON.parse(json)
    return isRecord(value) ? { values: value } : { problem: 'they have to be in braces.' }
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: sayWhere(json) }
    throw error
  }
}

function sayWhere(json: string): string {
  const at = findJsonError(json) ?? json.length
  if (at >= json.length) return `they end too early, after ${plural(json.length, 'character')}.`
  return `“${json.slice(at, at + 12).replace(/\s+/g, ' ')}” at position ${at + 1} does not fit there.`
}

function sayUnknown(name: string, catalogue: Catalogue): string {
  const near = nearestTools(name, catalogue).map(tool => `\`${tool.name}\``)
  const hint = near.length > 0 ? ` Did you mean ${near.join(', ')}?` : ''
  return `I have no tool \`${truncate(name.replaceAll('`', ''), 80)}\`.${hint} /tools lists them all.`
}

function nearestTools(name: string, catalogue: Catalogue): KnownTool[] {
  const lower = name.toLowerCase()
  const alike = catalogue.callable.filter(
    tool => isTypo(lower, tool.name.toLowerCase()) || tool.name.toLowerCase() === lower,
  )
  const matched = matchTools(name.replaceAll(/[_-]/g, ' '), catalogue.callable).map(match => match.tool)
  return [...new Set([...alike, ...matched])].slice(0, 3)
}

/** The list of the tools by group, or everything about the one whose name is asked for. */
function sayTools(filter: string, catalogue: Catalogue): string {
  const exact = findTool(catalogue, filter)
  if (exact) return sayTool(exact)
  const words = filter.toLowerCase()
  const fits = catalogue.callable.filter(tool =>
    `${tool.name} ${tool.title} ${tool.description}`.toLowerCase().includes(words),
  )
  if (fits.length === 0)
    return `No tool has “${truncate(filter, 60)}” in its name or description. /tools lists them all.`
  const groups = new Map<string, KnownTool[]>()
  for (const tool of fits.slice(0, MOST_LISTED)) {
    const group = toGroup(tool)
    groups.set(group, [...(groups.get(group) ?? []), tool])
  }
  const blocks = [...groups].map(([group, tools]) => [`**${group}**`, ...tools.map(toLine)].join('\n'))
  const more = fits.length - MOST_LISTED
  const tail = more > 0 ? [`… and ${plural(more, 'more tool')}; \`/tools word\` shows those that match.`] : []
  const lean = catalogue.lean
    ? ['There are more behind `find_tools`; name what you want and I look there.']
    : []
  return [...blocks, ...tail, ...lean].join('\n\n')
}

function toGroup(tool: KnownTool): string {
  if (isMetaTool(tool.name) || LEAN_TOOLS.includes(tool.name)) return 'Reminders, memory, tasks'
  const server = /^(.+?)__/.exec(tool.name)?.[1]
  if (server !== undefined) return server
  return tool.readOnly ? 'Looking (changes nothing)' : 'Doing'
}

function sayTool(tool: KnownTool): string {
  const fields = tool.fields.map(toFieldLine)
  const list = fields.length > 0 ? ['Arguments:', ...fields] : ['It takes no arguments.']
  return [`\`${tool.name}\`: ${truncate(tool.description, 600)}`, ...list].join('\n')
}

function toFieldLine(field: Field): string {
  const about = [
    field.choices.length > 0 ? `one of ${field.choices.slice(0, 20).join(', ')}` : field.kind,
    ...(field.required ? ['required'] : []),
    ...(field.default === undefined ? [] : [`default ${truncate(JSON.stringify(field.default) ?? '', 60)}`]),
  ]
  const description =
    field.description === '' ? '' : `: ${truncate(field.description.replace(/\s+/g, ' '), 160)}`
  return `- **${field.name}** (${about.join(', ')})${description}`
}
