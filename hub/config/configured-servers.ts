import { dirname } from 'node:path'
import { type ConfigFile, configFile, KNOWN_ENTRY_KEYS, type ServerEntry } from '../../schemas/config.ts'
import { toServerNames } from '../../schemas/names.ts'
import { HubError } from '../core/errors.ts'
import { isObject } from '../core/forwarding.ts'
import { withoutComments } from './json-comments.ts'
import { withEnvFile } from './pasted-servers.ts'
import type { Missing } from './yaml-file.ts'

const PASTED_KEYS: ReadonlySet<string> = new Set(['servers', 'mcpServers', 'inputs'])

/** Moves the keys below `mcp` to the top: VS Code's user settings nest what its own file has there. */
export function withoutSettings(value: unknown, missing: readonly Missing[]) {
  if (!isObject(value) || !isObject(value['mcp'])) return { value, missing }
  const { mcp: _, ...others } = value
  const { servers, inputs } = value['mcp']
  if (!isObject(servers)) return { value, missing }
  return {
    value: {
      ...others,
      ...(inputs === undefined ? {} : { inputs }),
      servers: { ...servers, ...(isObject(others['servers']) ? others['servers'] : {}) },
    },
    missing: missing.map(one => (one.path[0] === 'mcp' ? { ...one, path: one.path.slice(1) } : one)),
  }
}

/**
 * Leaves out of another client's whole file the keys that only that client knows. In any other file an
 * unknown key is a mistake, and stays.
 */
export function splitKeys(text: string, value: unknown): { ours: unknown; foreign: string[] } {
  if (!isPasted(text, value)) return { ours: value, foreign: [] }
  const entries = Object.entries(value ?? {})
  return {
    ours: Object.fromEntries(entries.filter(([key]) => isOurs(key))),
    foreign: entries.map(([key]) => key).filter(key => !isOurs(key)),
  }
}

/** Tells whether the file is another client's: JSON without any setting of the hub itself. */
export function isPasted(text: string, value: unknown): boolean {
  const known = isObject(value) ? Object.keys(value).filter(isOurs) : []
  const isJson = withoutComments(text).trimStart().startsWith('{')
  return isJson && known.length > 0 && known.every(key => PASTED_KEYS.has(key))
}

function isOurs(key: string): boolean {
  return Object.hasOwn(configFile.shape, key)
}

/**
 * Returns the entries by server name; `held` has the reasons why entries cannot be used, and `writtenNames`
 * the names in the file by server name, where they differ.
 */
export function decideConfigured(
  file: ConfigFile,
  path: string | undefined,
  unusable: ReadonlyMap<string, string>,
) {
  const twice = Object.keys(file.servers ?? {}).filter(name => name in (file.mcpServers ?? {}))
  if (twice.length > 0) {
    throw new HubError(
      'bad_request',
      `${path}: ${twice.join(', ')}: stands under both servers and mcpServers`,
    )
  }
  const all = { ...file.servers, ...file.mcpServers }
  const entries: Record<string, ServerEntry | false> = {}
  const held: Record<string, string> = {}
  const names = toServerNames(Object.keys(all))
  for (const [written, name] of names) {
    try {
      const entry = all[written] ?? false
      if (!unusable.has(written)) entries[name] = entry && withEnvFile(entry, dirname(path ?? '.'))
    } catch (error) {
      if (!(error instanceof HubError)) throw error
      held[name] = error.message
    }
  }
  for (const [written, reason] of unusable) {
    const name = names.get(written) ?? toServerNames([written]).get(written) ?? written
    held[name] = reason
  }
  const renamed = [...names].filter(([written, name]) => written !== name)
  const unknown = Object.entries(all).flatMap(([name, entry]) =>
    keysOf(entry)
      .filter(key => !KNOWN_ENTRY_KEYS.has(key))
      .map(key => `servers.${name}.${key}: not a key that the hub knows; ignored`),
  )
  return {
    entries,
    held,
    writtenNames: Object.fromEntries(renamed.map(([written, name]) => [name, written])),
    warnings: [
      ...renamed.map(([written, name]) => `${path}: servers.${written}: is called ${name} here`),
      ...unknown.map(what => `${path}: ${what}`),
    ],
  }
}

function keysOf(entry: ServerEntry | false): string[] {
  if (!entry) return []
  return [...Object.keys(entry), ...Object.keys(entry.oauth ?? {}).map(key => `oauth.${key}`)]
}
