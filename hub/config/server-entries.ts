import { type Document, isMap, isScalar, type Pair, type YAMLMap } from 'yaml'
import { toServerNames } from '../../schemas/names.ts'
import { HubError } from '../core/errors.ts'
import { isObject } from '../core/forwarding.ts'
import { toCanonicalJson } from '../core/json.ts'
import { readDocument } from './yaml-document.ts'

/** State of a server's entry. `own` says that it only sets a built-in server: no command, no url. */
export type EntryState =
  | { kind: 'none' }
  | { kind: 'off' }
  | { kind: 'entry'; disabled: boolean; own: boolean }

/** Change of an entry. Enabling an entry that is `false` makes it one without settings. */
export type EntryChange = 'disable' | 'enable' | 'remove'

type Json = Record<string, unknown>

/** Returns the state of a server's entry in the text of a config file. */
export function readEntry(text: string, server: string): EntryState {
  const { file, key, name } = find(text, server)
  const entry = isObject(file[key]) ? file[key][name] : undefined
  if (entry === undefined) return { kind: 'none' }
  if (entry === false) return { kind: 'off' }
  const keys = isObject(entry) ? entry : {}
  const own = keys['command'] === undefined && keys['url'] === undefined
  return { kind: 'entry', disabled: keys['disabled'] === true, own }
}

/**
 * Returns the text of a config file with one server's entry changed; every other character, comments too,
 * stays. Throws `conflict`, with what to change by hand, where the file is written in a way that cannot be
 * changed safely.
 */
export function changeEntry(
  { file, text }: { file: string; text: string },
  server: string,
  change: EntryChange,
): string {
  const found = find(text, server)
  const { problems, counter, servers, name } = found
  const pair = servers && pairOf(servers, name)
  const line = pair ? `:${counter.linePos(rangeOf(pair.key)[0]).line}` : ''
  const changed = servers && pair ? edit(text, servers, pair, change) : begin(text, found)
  if (problems.length === 0 && says(changed, expect(found, change))) return changed
  throw new HubError(
    'conflict',
    `${file}${line}: cannot be changed safely: ${BY_HAND[change](name)} by hand.`,
  )
}

const BY_HAND: Record<EntryChange, (name: string) => string> = {
  disable: name => `write "disabled: true" into the entry ${name} under servers`,
  enable: name => `take "disabled: true" out of the entry ${name} under servers`,
  remove: name => `delete the entry ${name} under servers`,
}

export function says(text: string, expected: Json): boolean {
  const { document, problems } = readDocument(text)
  if (problems.length > 0) return false
  try {
    return toCanonicalJson(toJson(document)) === toCanonicalJson(expected)
  } catch (error) {
    // The removed text held the anchor of an alias that is still there.
    if (error instanceof ReferenceError) return false
    throw error
  }
}

function expect({ file, key, name }: Found, change: EntryChange): Json {
  const servers = isObject(file[key]) ? { ...file[key] } : {}
  const entry = isObject(servers[name]) ? { ...servers[name] } : undefined
  delete servers[name]
  if (change === 'disable') servers[name] = { ...entry, disabled: true }
  if (change === 'enable') {
    delete entry?.['disabled']
    servers[name] = entry ?? {}
  }
  return { ...file, [key]: servers }
}

type Found = ReturnType<typeof find>

/** Finds a server's name as the file writes it, and the mapping that has it, or is to have it. */
function find(text: string, server: string) {
  const { document, problems, counter } = readDocument(text)
  const file = toJson(document)
  const namesUnder = (key: string) => (isObject(file[key]) ? Object.keys(file[key]) : [])
  const written = [...namesUnder('servers'), ...namesUnder('mcpServers')]
  const name = [...toServerNames(written)].find(([, own]) => own === server)?.[0] ?? server
  const isOther = namesUnder('mcpServers').includes(name) || ('mcpServers' in file && !('servers' in file))
  const key = isOther ? 'mcpServers' : 'servers'
  const contents = isMap(document.contents) ? document.contents : undefined
  const servers = contents?.get(key, true)
  return { file, key, name, contents, servers: isMap(servers) ? servers : undefined, problems, counter }
}

export function toJson(document: Document): Json {
  const value: unknown = document.toJS()
  return isObject(value) ? value : {}
}

function pairOf(map: YAMLMap, name: string): Pair | undefined {
  return map.items.find(({ key }) => isScalar(key) && key.value === name)
}

/** Returns where a node begins and where its own text ends. */
function rangeOf(node: unknown): [number, number] {
  const range = isScalar(node) || isMap(node) ? node.range : undefined
  return range ? [range[0], range[1]] : [0, 0]
}

function edit(text: string, servers: YAMLMap, pair: Pair, change: EntryChange): string {
  const entry = pair.value
  const disabled = isMap(entry) ? pairOf(entry, 'disabled') : undefined
  switch (change) {
    case 'remove':
      return cut(text, servers, pair)
    case 'enable':
      if (isMap(entry)) return disabled ? cut(text, entry, disabled) : text
      return replace(text, entry, '{}')
    case 'disable':
      if (disabled) return replace(text, disabled.value, 'true')
      if (isMap(entry)) return insert(text, entry, 'disabled', 'true')
      return replace(text, entry, '{ disabled: true }')
    default:
      return change satisfies never
  }
}

function replace(text: string, node: unknown, by: string): string {
  const [from, to] = rangeOf(node)
  return text.slice(0, from) + (from === to ? ' ' : '') + by + text.slice(to)
}

/** Inserts a key at the beginning of a mapping, indented and quoted like the mapping. */
export function insert(text: string, map: YAMLMap, key: string, value: string): string {
  const [from] = rangeOf(map)
  if (map.flow) {
    const rest = map.items.length > 0 ? ', ' : ' '
    return `${text.slice(0, from + 1)} "${key}": ${value}${rest}${text.slice(from + 1).trimStart()}`
  }
  const indent = text.slice(text.lastIndexOf('\n', from - 1) + 1, from)
  return `${text.slice(0, from)}${key}: ${value}\n${indent}${text.slice(from)}`
}

/** Removes a key of a mapping: whole lines of a block, else up to the neighbor's comma. */
function cut(text: string, map: YAMLMap, pair: Pair): string {
  const [from] = rangeOf(pair.key)
  const to = from + text.slice(from, endOf(pair)).trimEnd().length
  if (map.items.length === 1) {
    if (map.flow) return `${text.slice(0, from).trimEnd()}${text.slice(to).trimStart()}`
    return `${text.slice(0, from)}{}${text.slice(to)}`
  }
  if (map.flow) {
    const after = /^\s*,\s*/.exec(text.slice(to))?.[0].length
    if (after !== undefined) return text.slice(0, from) + text.slice(to + after)
    return text.slice(0, from).replace(/,\s*$/, '') + text.slice(to)
  }
  const lineEnd = text.indexOf('\n', to)
  const lineStart = text.lastIndexOf('\n', from - 1) + 1
  return text.slice(0, lineStart) + (lineEnd < 0 ? '' : text.slice(lineEnd + 1))
}

/** Returns where the last line of a pair's value ends, without the comments and blank lines after it. */
function endOf({ key, value }: Pair): number {
  if (isMap(value) && value.flow !== true) {
    const last = value.items.at(-1)
    if (last) return endOf(last)
  }
  const range = typeof value === 'object' && value !== null && 'range' in value ? value.range : undefined
  return Array.isArray(range) ? Number(range[1]) : rangeOf(key)[1]
}

/** Adds a disabled entry for a server that the file does not have. */
function begin(text: string, { contents, servers, key, name }: Found): string {
  if (servers) return insert(text, servers, name, '{ "disabled": true }')
  if (contents?.flow) return insert(text, contents, key, `{ "${name}": { "disabled": true } }`)
  const entry = `servers:\n  ${name}: { disabled: true }\n`
  return text === '' || text.endsWith('\n') ? `${text}${entry}` : `${text}\n${entry}`
}
