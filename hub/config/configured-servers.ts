import { dirname } from 'node:path'
import { type ConfigFile, configFile, KNOWN_ENTRY_KEYS, type ServerEntry } from '../../schemas/config.ts'
import { toServerNames } from '../../schemas/names.ts'
import { HubError } from '../core/errors.ts'
import { isObject } from '../core/forwarding.ts'
import { withoutComments } from './json-comments.ts'
import { withEnvFile } from './pasted-servers.ts'
import type { Missing } from './yaml-file.ts'

/** The servers of the config file, by name. */
export interface ConfiguredServers {
  entries: Record<string, ServerEntry | false>
  /** Reasons why entries cannot be used. */
  held: Record<string, string>
  /** Names in the file, where the file writes a server's name differently. */
  writtenNames: Record<string, string>
  warnings: string[]
}

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
  const isOurs = (key: string) => Object.hasOwn(configFile.shape, key)
  const ours = Object.entries(value ?? {}).filter(([key]) => isOurs(key))
  return { ours: Object.fromEntries(ours), foreign: keysOfObject(value).filter(key => !isOurs(key)) }
}

/** Tells whether the file is another client's: JSON without any setting of the hub itself. */
export function isPasted(text: string, value: unknown): boolean {
  const known = keysOfObject(value).filter(key => Object.hasOwn(configFile.shape, key))
  const isJson = withoutComments(text).trimStart().startsWith('{')
  return isJson && known.length > 0 && known.every(key => PASTED_KEYS.has(key))
}

function keysOfObject(value: unknown): string[] {
  return typeof value === 'object' && value !== null ? Object.keys(value) : []
}

/** Returns the entries by server name, with the warnings about them. */
export function decideConfigured(
  file: ConfigFile,
  path: string | undefined,
  unusable: ReadonlyMap<string, string>,
): ConfiguredServers {
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
  const names = [...toServerNames(Object.keys(all))]
  const renamed = names.filter(([written, name]) => written !== name)
  for (const [written, name] of names) {
    const entry = all[written] ?? false
    const usable = toUsable(entry, unusable.get(written), path)
    if ('reason' in usable) held[name] = usable.reason
    else entries[name] = usable.entry
  }
  for (const [written, reason] of unusable) {
    const name = toServerNames([written]).get(written) ?? written
    if (!Object.hasOwn(all, written)) held[name] = reason
  }
  return {
    entries,
    held,
    writtenNames: Object.fromEntries(renamed.map(([written, name]) => [name, written])),
    warnings: [
      ...renamed.map(([written, name]) => `${path}: servers.${written}: is called ${name} here`),
      ...unknownEntryKeys(all, path),
    ],
  }
}

function toUsable(
  entry: ServerEntry | false,
  reason: string | undefined,
  path: string | undefined,
): { entry: ServerEntry | false } | { reason: string } {
  if (reason !== undefined) return { reason }
  if (!entry) return { entry }
  try {
    return { entry: withEnvFile(entry, dirname(path ?? '.')) }
  } catch (error) {
    if (error instanceof HubError) return { reason: error.message }
    throw error
  }
}

function unknownEntryKeys(all: Record<string, ServerEntry | false>, path: string | undefined): string[] {
  return Object.entries(all).flatMap(([name, entry]) =>
    keysOf(entry)
      .filter(key => !KNOWN_ENTRY_KEYS.has(key))
      .map(key => `${path}: servers.${name}.${key}: not a key that the hub knows; ignored`),
  )
}

function keysOf(entry: ServerEntry | false): string[] {
  if (!entry) return []
  return [...Object.keys(entry), ...Object.keys(entry.oauth ?? {}).map(key => `oauth.${key}`)]
}
