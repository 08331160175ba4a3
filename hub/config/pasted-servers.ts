import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { type ServerEntry, serverEntry } from '../../schemas/config.ts'
import { serverName, toServerNames } from '../../schemas/names.ts'
import { describeProblems } from '../../schemas/problems.ts'
import { describeError, HubError } from '../core/errors.ts'
import { isObject } from '../core/forwarding.ts'
import { type Missing, parseYaml, type YamlOptions } from './yaml-file.ts'

/** Keys under which clients keep their servers in their files. */
const SHELVES = ['servers', 'mcpServers'] as const
/** Bytes that no handwritten file reaches; a larger drop-in is no entry. */
const LARGEST_FILE = 256 * 1024
const NOT_SEEN =
  'a dropped-in entry sees nothing of the environment: write the value, or put the entry into the config file'

type Json = Record<string, unknown>
type Prepare = NonNullable<YamlOptions['prepare']>

/** Gives an entry our keys: Windsurf's and Gemini's address, Cursor's login. Drops keys that are null. */
export function withOurKeys(entry: unknown): unknown {
  if (!isObject(entry)) return entry
  const given = Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null))
  const { serverUrl, httpUrl, auth, ...ours } = given
  const url = ours['url'] ?? httpUrl ?? serverUrl
  const isLogin = isObject(auth) && 'CLIENT_ID' in auth
  return {
    ...ours,
    ...(url === undefined ? {} : { url }),
    ...(isLogin ? { oauth: toOAuth(auth) } : auth === undefined ? {} : { auth }),
  }
}

function toOAuth({ CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, scopes }: Json): Json {
  return {
    clientId,
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(Array.isArray(scopes) ? { scope: scopes.join(' ') } : {}),
  }
}

/**
 * Prepares the config file's servers for its schema. An entry with a `${…}` that has no value is set aside
 * alone, and so is a wrong entry in another client's file: `held` gets its problems by its written name.
 */
export function holdEntries(held: Map<string, string>, isPasted: boolean): Prepare {
  return (value, missing) => {
    if (!isObject(value)) return { value, missing: missing.filter(({ foreign }) => !foreign) }
    const others: Missing[] = []
    for (const one of missing) {
      const [shelf, name, ...path] = one.path.map(String)
      if (name === undefined || !SHELVES.some(each => each === shelf)) {
        if (!one.foreign) others.push(one)
      } else held.set(name, [held.get(name), `${path.join('.')}: ${one.problem}`].filter(Boolean).join('; '))
    }
    const shelves = SHELVES.flatMap(shelf => {
      const entries = value[shelf]
      if (!isObject(entries)) return []
      const ready = Object.entries(entries).map(([name, written]) => {
        const entry = withOurKeys(written)
        const problem = isPasted ? findProblem(name, entry) : undefined
        if (problem && !held.has(name)) held.set(name, problem)
        return [name, held.has(name) ? undefined : entry] as const
      })
      return [[shelf, Object.fromEntries(ready.filter(([, entry]) => entry !== undefined))]]
    })
    return { value: { ...value, ...Object.fromEntries(shelves) }, missing: others }
  }
}

function findProblem(written: string, entry: unknown): string | undefined {
  const name = toServerNames([written]).get(written)
  const problem = serverName.safeParse(name).error?.issues[0]?.message
  if (problem !== undefined) return `its name ${problem}`
  const error = entry === false ? undefined : serverEntry.safeParse(entry).error
  return error && describeProblems(error, 'the entry')
}

/** Reads a dropped-in `mcp.json`: one entry, or a client's file with only one. Throws `bad_request`. */
export function readDropInEntry(file: string): ServerEntry {
  const prepare: Prepare = (value, missing) => {
    const path = pathToEntry(file, value)
    const entry = path.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), value)
    const own = missing.filter(one => path.every((key, index) => one.path[index] === key))
    return {
      value: withOurKeys(entry),
      missing: own.map(one => (one.foreign ? one : { ...one, problem: `${one.problem}; ${NOT_SEEN}` })),
    }
  }
  const text = readText(file)
  const entry = parseYaml({ file, text }, serverEntry, { environment: () => undefined, prepare })
  return withEnvFile(entry, dirname(file))
}

function pathToEntry(file: string, value: unknown): string[] {
  const shelf = isObject(value) ? SHELVES.find(key => isObject(value[key])) : undefined
  if (!isObject(value) || shelf === undefined) return []
  const names = Object.keys(value[shelf] as Json)
  if (names[0] !== undefined && names.length === 1) return [shelf, names[0]]
  const what = `${file}: holds ${names.length} servers (${names.join(', ')}), and a folder is one server`
  throw new HubError(
    'bad_request',
    `${what}: put the file's servers into superbloom.yaml, or into a folder each`,
  )
}

/** Adds the variables of the `envFile`, relative to `folder`. Throws `bad_request` if it cannot be read. */
export function withEnvFile(entry: ServerEntry, folder: string): ServerEntry {
  if (entry.envFile === undefined) return entry
  const file = resolve(folder, entry.envFile)
  try {
    const read = parseEnv(readText(file)) as Record<string, string>
    return { ...entry, env: { ...read, ...entry.env } }
  } catch (error) {
    throw new HubError('bad_request', `envFile: ${describeError(error)}`, { cause: error })
  }
}

/** Reads a regular file only: reading a pipe would stop the hub until somebody writes to it. */
function readText(file: string): string {
  const stats = statSync(file)
  if (!stats.isFile()) throw new HubError('bad_request', `${file} is no file`)
  if (stats.size > LARGEST_FILE) throw new HubError('bad_request', `${file} is over ${LARGEST_FILE} bytes`)
  return readFileSync(file, 'utf8')
}
