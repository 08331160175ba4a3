import { existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { type ServerEntry, serverEntry } from '../../schemas/config.ts'
import { serverName, toServerNames } from '../../schemas/names.ts'
import { describeProblems } from '../../schemas/problems.ts'
import { withoutComments } from '../config/json-comments.ts'
import { withOurKeys } from '../config/pasted-servers.ts'
import { HubError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'

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
    return readPasted(name, json)
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
  return new HubError('invalid_arguments', `servers add: ${message}`)
}

/** Reads the servers of `--json`: its text, or the file that it names. Secrets in them are never shown. */
function readPasted(name: string | undefined, given: string): NewServer[] {
  const isText = withoutComments(given).trimStart().startsWith('{')
  if (!isText && !existsSync(given))
    throw wrong(`--json: there is no file ${given}, and it is no JSON object`)
  const file = z
    .record(z.string(), z.unknown())
    .safeParse(parseJson(withoutComments(isText ? given : readFileSync(given, 'utf8'))))
  if (!file.success) {
    throw wrong(`--json: ${isText ? 'this' : given} is no JSON object`)
  }
  if (['command', 'url', ...OTHER_URLS].some(key => key in file.data)) {
    if (name === undefined) throw wrong('--json: this is one server without its name: give one')
    return [toNewServer(name, file.data)]
  }
  const shelf = SHELVES.find(key => key in file.data)
  const shelved = z.record(z.string(), z.unknown()).safeParse(shelf ? file.data[shelf] : file.data)
  const entries = Object.entries(shelved.data ?? {}).filter(([key]) => name === undefined || key === name)
  if (entries.length > 0) return entries.map(([key, entry]) => toNewServer(key, entry, name))
  throw wrong(
    name === undefined
      ? '--json: there is no server in it: it holds {"mcpServers": {"<name>": {"command": …}}}'
      : `--json: there is no server ${name} in it; there is ${Object.keys(shelved.data ?? {}).join(', ') || 'none'}`,
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
