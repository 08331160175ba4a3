import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ServerDetails, ServerLogLine, ServerTool, ToolMode } from '../../schemas/hub-servers.ts'
import type { HubStatus } from '../../schemas/hub-status.ts'
import type { ToolClass } from '../../schemas/power.ts'
import type { ToolRules } from '../../schemas/tool-rules.ts'
import { HubError } from '../core/errors.ts'
import type { JsonObject } from '../core/forwarding.ts'
import { matchesGlob, matchesGlobs } from '../core/glob.ts'
import { parseJson } from '../core/json.ts'
import { maskSecrets } from '../core/mask-secrets.ts'
import { decideAllowed } from './allow-rules.ts'
import { builtIns } from './built-ins.ts'
import type { LiveConfig } from './live-config.ts'
import type { Config } from './load.ts'
import { readPastedServers } from './new-servers.ts'
import type { Written } from './rewrite-config.ts'
import {
  addServers,
  type NamedTool,
  type Removed,
  removeServer,
  restoreServer,
  type ServerFiles,
  setToolMode,
  switchServer,
} from './server-changes.ts'
import { findDroppedIn } from './server-folder.ts'

interface RunningServers {
  status(): HubStatus['servers']
  toolsOf(server: string): {
    name: string
    isTaken: boolean
    definition: Pick<ServerTool, 'title' | 'description' | 'inputSchema'> & { name: string }
  }[]
  logOf(server: string): readonly ServerLogLine[]
  renew(server: string): void
}

/** Creates what the owner's page does with servers: with the files that configure them, and with those that run. */
export function createServerSettings(
  live: Pick<LiveConfig, 'file' | 'current' | 'check'>,
  running: RunningServers,
  toolClassOf: (tool: string) => ToolClass | undefined,
  pins: { bringBack(server: string): void },
) {
  /** Servers that were removed since the hub started, which can be put back. */
  const removedServers = new Map<string, Removed>()
  const files: ServerFiles = {
    configFile: live.file,
    serversFolder: join(live.current.dataFolder, 'servers'),
    isBuiltIn: name => builtIns.some(one => one.name === name),
    check: live.check,
  }
  const check = (server: string) => {
    const all = running.status().map(one => one.name)
    if (all.includes(server) || files.isBuiltIn(server)) return
    throw new HubError(
      'not_found',
      `There is no server ${server}; there is ${[...new Set(all)].join(', ') || 'none'}.`,
    )
  }
  return {
    states: () => running.status(),
    log: (server: string) => running.logOf(server),
    add(paste: string, name?: string) {
      const added = readPastedServers(paste, name)
      const written = addServers(files, added)
      return added.map(one => ({ name: one.name, notes: one.notes, file: written.get(one.name) ?? '' }))
    },
    remove(server: string) {
      const removed = removeServer(files, server)
      if (!removed) check(server)
      else removedServers.set(server, removed)
      if (removed?.from === 'folder') return { file: removed.found.folder, kept: removed.aside }
      const { file = '', backup } = removed ?? {}
      return { file, ...(backup === undefined ? {} : { kept: backup }) }
    },
    restore(server: string) {
      const file = restoreServer(files, server, removedServers.get(server))
      removedServers.delete(server)
      pins.bringBack(server)
      return { file }
    },
    enable(server: string, enabled: boolean): string[] {
      const written = switchServer(files, server, enabled ? 'enable' : 'disable')
      if (written === undefined) check(server)
      return written === undefined || written === 'already' ? [] : toPaths([written])
    },
    setToolMode: (tool: NamedTool, mode: ToolMode) => toPaths(setToolMode(files, tool, mode)),
    restart(server: string) {
      check(server)
      running.renew(server)
    },
    read(server: string): ServerDetails {
      check(server)
      const { file, entry, rules } = findEntry(files, live.current, server)
      const lists = live.current.tools
      return {
        name: server,
        isBuiltIn: files.isBuiltIn(server),
        ...(file === undefined ? {} : { file }),
        ...(entry === undefined ? {} : { entry: maskSecrets(entry, 'server') as JsonObject }),
        tools: running.toolsOf(server).map(one => toServerTool(one, toolClassOf(one.name), { lists, rules })),
      }
    },
  }
}

function toServerTool(
  { name, isTaken, definition }: ReturnType<RunningServers['toolsOf']>[number],
  toolClass: ToolClass | undefined,
  { lists, rules }: { lists: Config['tools']; rules: ToolRules | undefined },
): ServerTool {
  const { name: original, title, description, inputSchema } = definition
  return {
    name,
    original,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    inputSchema,
    ...(isTaken ? decideMode(lists, { name, toolClass }) : { mode: 'off', ...ruleOf(rules, original) }),
    ...(isTaken && toolClass ? { toolClass } : {}),
  }
}

function toPaths(written: readonly Written[]): string[] {
  return [...new Set(written.map(({ file }) => file))]
}

/** Returns who may use a tool, and the rule for that where it names more than the tool. */
function decideMode(
  { approve, deny, allow }: Pick<Config['tools'], 'approve' | 'deny' | 'allow'>,
  tool: { name: string; toolClass: ToolClass | undefined },
): Pick<ServerTool, 'mode' | 'rule'> {
  const { name } = tool
  const found = (
    [
      ['deny', deny],
      ['ask', approve],
    ] as const
  ).find(([, globs]) => matchesGlobs(globs, name))
  if (!found) return decideAllowed(allow, tool) ?? { mode: 'on' }
  const [mode, globs] = found
  const rule = globs.find(glob => glob !== name && matchesGlob(glob, name))
  return {
    mode,
    ...(rule === undefined ? {} : { rule: `tools.${mode === 'ask' ? 'approve' : 'deny'}: ${rule}` }),
  }
}

function ruleOf({ never = [] }: ToolRules = {}, original: string): Pick<ServerTool, 'rule'> {
  const rule = never.find(glob => glob !== original && matchesGlob(glob, original))
  return rule === undefined ? {} : { rule: `tools.never: ${rule}` }
}

/** Finds the entry of a server, and the file that has it. */
function findEntry(files: ServerFiles, { servers, configFile }: Config, server: string) {
  const entry = Object.hasOwn(servers, server) ? servers[server] : undefined
  if (entry) return { file: configFile, entry, rules: entry.tools }
  const found = findDroppedIn(files.serversFolder, server)
  if (found?.kind !== 'entry') return { file: found?.folder, entry: undefined, rules: undefined }
  const file = join(found.folder, 'mcp.json')
  return { file, entry: parseJson(readFileSync(file, 'utf8')), rules: found.tools }
}
