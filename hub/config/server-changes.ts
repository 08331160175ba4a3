import type { ServerEntry } from '../../schemas/config.ts'
import type { ToolMode } from '../../schemas/hub-servers.ts'
import type { ToolClass } from '../../schemas/power.ts'
import type { ToolRules } from '../../schemas/tool-rules.ts'
import { HubError } from '../core/errors.ts'
import { isObject } from '../core/forwarding.ts'
import { matchesGlobs } from '../core/glob.ts'
import { isTaken } from '../core/tool-rules.ts'
import { setAllowed, toAllowRule } from './allow-rules.ts'
import { changeList, describeByHand, setKey, toJson, type YamlPath } from './edit-yaml.ts'
import { readForChange, rewriteConfig, type Written } from './rewrite-config.ts'
import { type EntryChange, findEntry, readEntry, toKeyChange } from './server-entries.ts'
import {
  type DroppedIn,
  findDroppedIn,
  putAside,
  putBack,
  setDisabled,
  setTools,
  writeEntry,
} from './server-folder.ts'
import { readDocument } from './yaml-document.ts'

/** The files that configure servers. */
export interface ServerFiles {
  configFile: string
  /** `<data>/servers`. */
  serversFolder: string
  isBuiltIn: (name: string) => boolean
  /** Throws what is wrong with a text for the config file, before it is written. */
  check: (text: string) => void
}

/** Writes new servers into the data folder, where only its owner reads them. Throws `conflict` for a taken name. */
export function addServers(
  files: ServerFiles,
  added: readonly { name: string; entry: ServerEntry }[],
): Map<string, string> {
  for (const { name } of added) checkFree(files, name)
  return new Map(added.map(({ name, entry }) => [name, writeEntry(files.serversFolder, name, entry)]))
}

function checkFree(files: ServerFiles, name: string): void {
  const there = findDroppedIn(files.serversFolder, name)
  if (there) {
    const how = `remove that first (superbloom servers remove ${name}), or take another name`
    throw new HubError('conflict', `There is a dropped-in server ${name} in ${there.folder}: ${how}.`)
  }
  if (readEntry(readConfig(files), name).kind === 'none') return
  throw new HubError(
    'conflict',
    `${files.configFile} says something of a server ${name}, and it wins over a dropped-in one: take another name, or change it there.`,
  )
}

/**
 * A removed server: an entry of the config, whose text was `before` and is `after`, or a dropped-in folder, which is
 * kept at `aside`.
 */
export type Removed =
  | (Written & { from: 'config'; before: string; after: string; path: YamlPath; entry: unknown })
  | { from: 'folder'; aside: string; found: DroppedIn }

/** Removes a server from the config file, or moves its folder aside. Returns undefined if there is none. */
export function removeServer(files: ServerFiles, name: string): Removed | undefined {
  const entry = readEntry(readConfig(files), name)
  const isOwn = entry.kind === 'off' || (entry.kind === 'entry' && entry.own)
  // An entry that only sets how a built-in server runs is no server of its own.
  if (entry.kind !== 'none' && !(isOwn && files.isBuiltIn(name))) {
    const before = readConfig(files)
    const there = findEntry(before, name)
    const written = changeConfig(files, name, 'remove')
    return { from: 'config', ...written, before, after: readConfig(files), ...there }
  }
  const found = findDroppedIn(files.serversFolder, name)
  if (found) return { from: 'folder', aside: putAside(files.serversFolder, name), found }
  if (!files.isBuiltIn(name)) return undefined
  throw new HubError(
    'invalid_arguments',
    `${name} comes with the hub and cannot be removed: superbloom servers disable ${name} switches it off.`,
  )
}

/** Puts a removed server back as it was; returns the file or folder. Throws `conflict` where its name is taken again. */
export function restoreServer(files: ServerFiles, name: string, removed: Removed | undefined): string {
  if (!removed) throw new HubError('not_found', `No server ${name} was removed since the hub started.`)
  const text = readConfig(files)
  const isTaken = removed.from === 'config' && readEntry(text, name).kind !== 'none'
  if (isTaken || findDroppedIn(files.serversFolder, name))
    throw new HubError('conflict', `There is a server ${name} again: remove that first.`)
  if (removed.from === 'folder') {
    putBack(removed.aside, removed.found.folder)
    return removed.found.folder
  }
  const { before, after, path, entry, backup } = removed
  // The text from before has the comments of the entry too.
  const next = text === after ? before : setKey({ file: files.configFile, text }, path, entry)
  return writeText(files, text, next, `copy ${path.join('.')} from ${backup}`).file
}

/**
 * Switches a server off, or on again, wherever it is configured. Returns what was written, `already` if it is as
 * wanted, and undefined if there is no such server.
 */
export function switchServer(
  files: ServerFiles,
  name: string,
  change: 'disable' | 'enable',
): Written | 'already' | undefined {
  const entry = readEntry(readConfig(files), name)
  const found = entry.kind === 'none' ? findDroppedIn(files.serversFolder, name) : undefined
  if (entry.kind === 'none' && !found && !files.isBuiltIn(name)) return undefined
  const isOff = entry.kind === 'off' || (entry.kind === 'entry' && entry.disabled) || found?.disabled === true
  if (isOff === (change === 'disable')) return 'already'
  if (found) {
    setDisabled(files.serversFolder, name, found, change === 'disable')
    return { file: found.folder }
  }
  // Removing the entry lets a dropped-in server of this name run again.
  const isLoose = entry.kind === 'off' && !files.isBuiltIn(name)
  return changeConfig(files, name, isLoose ? 'remove' : change)
}

function changeConfig(files: ServerFiles, name: string, change: EntryChange): Written {
  const text = readConfig(files)
  return write(files, toKeyChange(text, name, change))
}

/** A tool by its server, its name there and its name in the hub. */
export interface NamedTool {
  server: string
  original: string
  name: string
  toolClass?: ToolClass | undefined
}

/**
 * Sets who may use a tool: `off` leaves it out of the hub (`tools.never` of the server's entry), `ask` and `deny` bind
 * agents (`tools.approve` and `tools.deny` of the config), `run` and `routine` have agents not ask (`tools.allow`), `on`
 * is none of these. Throws `conflict` where a glob says otherwise.
 */
export function setToolMode(files: ServerFiles, tool: NamedTool, mode: ToolMode): Written[] {
  // This throws before anything is written.
  listsWith(files, tool, mode)
  return [...setTaken(files, tool, mode !== 'off'), ...setLists(files, tool, mode)]
}

/** Throws `conflict` for a name that the lists would read as a glob over other tools. */
function checkName(name: string): void {
  if (!name.startsWith('!') && !name.includes('*')) return
  const why = 'its name is a glob over others, so no rule can name it alone'
  throw new HubError(
    'conflict',
    `${JSON.stringify(name)} cannot be set: ${why}. Refuse it to agents, or switch its server off.`,
  )
}

const LISTS = { ask: 'approve', deny: 'deny' } as const

function setLists(files: ServerFiles, tool: NamedTool, mode: ToolMode): Written[] {
  const { before, text } = listsWith(files, tool, mode)
  if (text === before) return []
  const list = mode === 'ask' || mode === 'deny' ? LISTS[mode] : undefined
  const rule = toAllowRule(tool.name, mode)
  const put = rule ? `, and put ${JSON.stringify(rule)} into tools.allow` : ''
  const byHand = list
    ? describeByHand(['tools', list], [tool.name])
    : `take ${tool.name} out of tools.approve, tools.deny and tools.allow${put}`
  return [writeText(files, before, text, byHand)]
}

/** Returns the config, and the config with the tool in the list of its mode, and not in the other. */
function listsWith(files: ServerFiles, tool: NamedTool, mode: ToolMode): { before: string; text: string } {
  const { name } = tool
  const { configFile: file } = files
  const before = readConfig(files)
  let text = before
  if (mode === 'off') return { before, text }
  checkName(name)
  const own = mode === 'ask' || mode === 'deny' ? LISTS[mode] : undefined
  if (own && !matchesGlobs(listAt(text, ['tools', own]), name))
    text = changeList({ file, text }, ['tools', own], name, 'add')
  for (const key of Object.values(LISTS).filter(one => one !== own)) {
    const list = listAt(text, ['tools', key])
    checkRule(list, name, `${file}: tools.${key}`)
    text = changeList({ file, text }, ['tools', key], name, 'remove')
  }
  return { before, text: setAllowed({ file, text }, tool, mode) }
}

/** Throws `conflict` if a list holds a name also without the name itself. */
function checkRule(list: readonly string[], name: string, where: string): void {
  const rest = list.filter(one => one !== name)
  if (!matchesGlobs(rest, name)) return
  const rules = rest.filter(one => matchesGlobs([one], name)).join(', ')
  throw new HubError('conflict', `${where} has ${rules}, which ${name} fits: change that rule there.`)
}

/** Makes the hub take a tool of a server, or leave it out. */
function setTaken(files: ServerFiles, { server, original }: NamedTool, wanted: boolean): Written[] {
  const text = readConfig(files)
  const { path, entry } = findEntry(text, server)
  const found = entry === undefined ? findDroppedIn(files.serversFolder, server) : undefined
  const before =
    found?.kind === 'entry' ? found.tools : isObject(entry) ? (entry['tools'] as ToolRules) : undefined
  const rules = Array.isArray(before) ? { only: before } : before
  if (isTaken(rules, original) === wanted) return []
  if (found?.kind === 'program') {
    const how = 'has no entry that could leave a tool out; refuse it to agents, or switch the server off'
    throw new HubError('conflict', `The dropped-in program ${found.folder} ${how}.`)
  }
  const next = toRules(rules, original, wanted, `the entry of ${server}`)
  if (found?.kind === 'entry') return [setTools(files.serversFolder, server, found, next)]
  return [write(files, [[...path, 'tools'], next])]
}

/** Returns the rules with a tool taken or left out; undefined if none are left. */
function toRules(rules: ToolRules = {}, tool: string, wanted: boolean, where: string): ToolRules | undefined {
  checkName(tool)
  const { only, never = [] } = rules
  if (!wanted) return { ...rules, never: [...never, tool] }
  checkRule(never, tool, `${where}: tools.never`)
  const others = never.filter(one => one !== tool)
  const next = {
    ...(only === undefined ? {} : { only: matchesGlobs(only, tool) ? only : [...only, tool] }),
    ...(others.length > 0 ? { never: others } : {}),
  }
  return Object.keys(next).length > 0 ? next : undefined
}

function listAt(text: string, path: YamlPath): string[] {
  const whole: unknown = toJson(readDocument(text).document)
  const list = path.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), whole)
  return Array.isArray(list) ? list.map(String) : []
}

function readConfig({ configFile }: ServerFiles): string {
  return readForChange(configFile)
}

function write(files: ServerFiles, [path, value]: [YamlPath, unknown]): Written {
  const before = readConfig(files)
  const text = setKey({ file: files.configFile, text: before }, path, value)
  return writeText(files, before, text, describeByHand(path, value))
}

function writeText(files: ServerFiles, before: string, text: string, byHand: string): Written {
  files.check(text)
  return rewriteConfig(files.configFile, before, text, byHand)
}
