import { toServerNames } from '../../schemas/names.ts'
import { isObject } from '../core/forwarding.ts'
import { setKey, toJson, type YamlPath } from './edit-yaml.ts'
import { readDocument } from './yaml-document.ts'
import type { YamlSource } from './yaml-file.ts'

/** State of a server's entry. `own` says that it only sets a built-in server: no command, no url. */
export type EntryState =
  | { kind: 'none' }
  | { kind: 'off' }
  | { kind: 'entry'; disabled: boolean; own: boolean }

/** Change of an entry. Enabling an entry that is `false` makes it one without settings. */
export type EntryChange = 'disable' | 'enable' | 'remove'

/** Returns the state of a server's entry in the text of a config file. */
export function readEntry(text: string, server: string): EntryState {
  const { entry } = findEntry(text, server)
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
export function changeEntry(source: YamlSource, server: string, change: EntryChange): string {
  return setKey(source, ...toKeyChange(source.text, server, change))
}

/** Returns the key that a change of an entry sets, and its value. */
export function toKeyChange(text: string, server: string, change: EntryChange): [YamlPath, unknown] {
  const { path, entry } = findEntry(text, server)
  switch (change) {
    case 'remove':
      return [path, undefined]
    case 'enable':
      return isObject(entry) ? [[...path, 'disabled'], undefined] : [path, {}]
    case 'disable':
      return [[...path, 'disabled'], true]
    default:
      return change satisfies never
  }
}

/** Finds a server's entry, and the path that the file has, or is to have, for it. */
export function findEntry(text: string, server: string): { path: [string, string]; entry: unknown } {
  const file = toJson(readDocument(text).document)
  const entriesOf = (key: string) => (isObject(file[key]) ? file[key] : {})
  const written = [...Object.keys(entriesOf('servers')), ...Object.keys(entriesOf('mcpServers'))]
  const name = [...toServerNames(written)].find(([, own]) => own === server)?.[0] ?? server
  const isOther =
    Object.hasOwn(entriesOf('mcpServers'), name) || ('mcpServers' in file && !('servers' in file))
  const key = isOther ? 'mcpServers' : 'servers'
  const entry = Object.hasOwn(entriesOf(key), name) ? entriesOf(key)[name] : undefined
  return { path: [key, name], entry }
}
