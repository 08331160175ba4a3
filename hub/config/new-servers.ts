import { existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { type ServerEntry, serverEntry } from '../../schemas/config.ts'
import { serverName, toServerNames } from '../../schemas/names.ts'
import { describeProblems } from '../../schemas/problems.ts'
import { HubError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'
import { withoutComments } from './json-comments.ts'
import { withOurKeys } from './pasted-servers.ts'

export interface AddOptions {
  url?: string
  header?: string[]
  env?: string[]
  cwd?: string
  prefix?: string
  isolated?: boolean
  json?: string
}

export interface NewServer {
  name: string
  entry: ServerEntry
  notes: string[]
}

/** Keys under which other clients keep their servers in their files. */
const SHELVES = ['mcpServers', 'servers', 'context_servers'] as const

/** Windsurf's and Gemini CLI's names of `url`. */
const OTHER_URLS = ['serverUrl', 'httpUrl'] as const

/** Matches a placeholder that only another client fills in. */
const PLACEHOLDER = /\$\{(?:env|input):[^}]*\}/

/** Returns the servers of a command line. Throws `invalid_arguments` that says what to write instead. */
export function readNewServers(
  name: string | undefined,
  command: readonly string[],
  options: AddOptions,
): NewServer[] {
  if (options.json !== undefined) {
    const { json, ...others } = options
    if (command.length > 0 || Object.keys(others).length > 0)
      throw wrong('--json says it all: give nothing else besides a name')
    return readJson(name, json)
  }
  if (name === undefined) throw wrong(`give it a name. ${EXAMPLES}`)
  const [program, ...args] = command
  if ((program === undefined) === (options.url === undefined))
    throw wrong(`give either a command behind -- or --url. ${EXAMPLES}`)
  if (options.url === undefined && options.header) throw wrong('--header goes with --url')
  if (options.url !== undefined && (options.env || options.cwd))
    throw wrong('--env and --cwd go with a command')
  const entry = {
    ...(program === undefined ? {} : { command: program }),
    ...(args.length > 0 ? { args } : {}),
    ...(options.env ? { env: toRecord('--env', 'KEY=value', '=', options.env) } : {}),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.url === undefined ? {} : { url: options.url }),
    ...(options.header ? { headers: toRecord('--header', '"Name: value"', ':', options.header) } : {}),
    ...(options.prefix === undefined ? {} : { prefix: options.prefix }),
    ...(options.isolated ? { isolated: true } : {}),
  }
  return [{ name: checkName(name), entry: checkEntry(name, entry), notes: [] }]
}

const EXAMPLES =
  'For example: superbloom servers add files -- npx -y @modelcontextprotocol/server-filesystem /srv, or: superbloom servers add remote --url https://example.org/mcp'

function wrong(message: string): HubError {
  return new HubError('invalid_arguments', message)
}

/** Reads the servers of `--json`: its text, or the file that it names. */
function readJson(name: string | undefined, given: string): NewServer[] {
  if (isObjectText(given)) return readPastedJson(given, name)
  if (!existsSync(given)) throw wrong(`--json: there is no file ${given}, and it is no JSON object`)
  return readPastedJson(readFileSync(given, 'utf8'), name)
}

function isObjectText(text: string): boolean {
  return withoutComments(text).trimStart().startsWith('{')
}

/**
 * Returns the servers of a text that a person pastes: another client's JSON, an address, or a command line.
 * Throws `invalid_arguments` that says what to write instead; secrets in the text are never shown.
 */
export function readPastedServers(text: string, name?: string): NewServer[] {
  if (isObjectText(text)) return readPastedJson(text, name)
  const { env, words } = readCommandLine(text)
  const [program, ...args] = words
  if (program === undefined) throw wrong('paste the JSON of a client, a command line or an address')
  const isAddress = /^https?:\/\//.test(program)
  if (isAddress && args.length > 0) throw wrong('an address stands alone; headers go into JSON')
  const entry = isAddress
    ? { url: program }
    : {
        command: program,
        ...(args.length > 0 ? { args } : {}),
        ...(Object.keys(env).length > 0 ? { env } : {}),
      }
  const chosen = name ?? nameOf(isAddress ? new URL(program).hostname : nameOfPackage(words))
  return [{ name: checkName(chosen), entry: checkEntry(chosen, entry), notes: [] }]
}

/** Words that name no server: variables, and programs that start another one. */
const RUNNERS =
  /^(?:|[A-Z0-9_]+|.*=.*|npx|uvx|bunx|pnpx|npm|pnpm|yarn|uv|node|python3?|docker|podman|run|exec|dlx|tool)$/

/** Returns what a server is called that a command starts: "npx -y @scope/server-files" is files. */
function nameOfPackage(words: readonly string[]): string {
  const plain = words.map(word => word.split('/').at(-1) ?? '')
  const first = plain.find((word, index) => !words[index]?.startsWith('-') && !RUNNERS.test(word))
  const bare = (first ?? words[0] ?? '').replace(/[@:].*$/, '').replace(/\.\w+$/, '')
  return bare.replace(/^(?:mcp-)?(?:server-)?|(?:-mcp)?(?:-server)?$/g, '') || bare
}

/** Matches a word of a command line, with quotes as a shell takes them, or the end of a continued line. */
const WORD = /(?:"(?:\\.|[^"\\])*"|'[^']*'|\\[^\n]|[^\s"'\\])+/g
const QUOTED = /"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/g
const VARIABLE = /^([A-Za-z_]\w*)=[\s\S]*$/

/** Splits a command line into its words, and the variables in front of them. Nothing in it is expanded. */
function readCommandLine(text: string): { env: Record<string, string>; words: string[] } {
  const words = (text.replace(/\\\r?\n/g, ' ').match(WORD) ?? []).map(word =>
    word.replace(QUOTED, (_whole, double?: string, single?: string, sign?: string) => {
      return double?.replace(/\\(["\\$`])/g, '$1') ?? single ?? sign ?? ''
    }),
  )
  const first = words.findIndex(word => !VARIABLE.test(word))
  const variables = words.slice(0, first < 0 ? words.length : first)
  const env = Object.fromEntries(
    variables.map(word => [word.split('=')[0], word.slice(word.indexOf('=') + 1)]),
  )
  return { env, words: words.slice(variables.length) }
}

/** Reads the servers of another client's JSON, or one server alone if it has a name. */
function readPastedJson(text: string, name: string | undefined): NewServer[] {
  const file = z.record(z.string(), z.unknown()).safeParse(parseJson(withoutComments(text)))
  if (!file.success) throw wrong('this is no JSON object')
  if (['command', 'url', ...OTHER_URLS].some(key => key in file.data)) {
    if (name === undefined) throw wrong('this is one server without its name: give one')
    return [toNewServer(name, file.data)]
  }
  const shelf = SHELVES.find(key => key in file.data)
  const shelved = z.record(z.string(), z.unknown()).safeParse(shelf ? file.data[shelf] : file.data)
  const all = Object.entries(shelved.data ?? {})
  const entries = all.filter(([key]) => name === undefined || key === name)
  if (entries.length > 0) return entries.map(([key, entry]) => toNewServer(key, entry, name))
  throw wrong(
    name === undefined
      ? 'there is no server in it: it holds {"mcpServers": {"<name>": {"command": …}}}'
      : `there is no server ${name} in it; there is ${Object.keys(shelved.data ?? {}).join(', ') || 'none'}`,
  )
}

function toNewServer(given: string, value: unknown, wanted?: string): NewServer {
  const name = wanted ?? nameOf(given)
  const entry = checkEntry(given, withOurKeys(value))
  const placeholder = PLACEHOLDER.exec(JSON.stringify(entry))?.[0]
  const notes = [
    ...(name === given ? [] : [`${given} is called ${name} here.`]),
    ...(placeholder ? [`${name}: ${placeholder} is filled in by another client only: write its value.`] : []),
  ]
  return { name: checkName(name), entry, notes }
}

function nameOf(given: string): string {
  return toServerNames([given]).get(given) ?? given
}

function checkName(name: string): string {
  const checked = serverName.safeParse(name)
  if (checked.success) return name
  const better = nameOf(name)
  const hint = serverName.safeParse(better).success ? `; ${better} would do` : ''
  throw wrong(`the name "${name}" ${checked.error.issues[0]?.message}${hint}`)
}

function checkEntry(name: string, value: unknown): ServerEntry {
  const checked = serverEntry.safeParse(value)
  if (checked.success && (checked.data.command === undefined) !== (checked.data.url === undefined)) {
    return checked.data
  }
  const why = checked.error && describeProblems(checked.error, 'the entry')
  throw wrong(`${name}: ${why ?? 'needs either a command or a url'}`)
}

/** Returns names and values of a repeatable option. It never shows the values, which may be secret. */
function toRecord(option: string, form: string, mark: string, given: string[]): Record<string, string> {
  return Object.fromEntries(
    given.map(text => {
      const at = text.indexOf(mark)
      const key = text.slice(0, Math.max(at, 0)).trim()
      if (key === '' || /\s/.test(key)) throw wrong(`${option}: write ${form}`)
      const value = text.slice(at + 1)
      return [key, mark === ':' ? value.trim() : value]
    }),
  )
}
