import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { start } from '../../support/cli.ts'
import type { ClientDriver, OpenClient, Place } from './open-client.ts'
import { programOf } from './packages.ts'

/** Programs that list and call from a shell: each command is a process and a connection of its own. */

/** Runs one command in the client's own home, and returns what it printed as JSON, or else as text. Throws where it failed. */
async function run(place: Place, program: string, args: readonly string[]): Promise<unknown> {
  const variables = { HOME: place.folder, XDG_CONFIG_HOME: place.folder, CI: '1', NO_COLOR: '1' }
  await using running = start(process.execPath, [program, ...args], {
    variables,
    cwd: place.folder,
    input: '',
  })
  const { code, stdout, stderr } = await running.ended()
  if (code !== 0) throw new Error(`${args.slice(0, 6).join(' ')} ended with ${code}: ${stderr || stdout}`)
  try {
    return JSON.parse(stdout) as unknown
  } catch {
    return stdout
  }
}

/** Every value of this key, however deep it stands. */
function everyValue(value: unknown, key: string): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    name === key && typeof inner === 'string' ? [inner] : everyValue(inner, key),
  )
}

function bridgeOf({ bridge }: Place) {
  if (!bridge) throw new Error('The bridge does not lead there')
  return bridge
}

const nothing = { [Symbol.asyncDispose]: async () => undefined }

function pairs(args: Record<string, string>): string[] {
  return Object.entries(args).map(([name, value]) => `${name}=${value}`)
}

function openInspector(place: Place, over: 'HTTP' | 'stdio', era: 'legacy' | 'modern'): OpenClient {
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json')
  const program = join(dirname(manifest), 'clients/launcher/build/index.js')
  const target = () => {
    if (over === 'HTTP') {
      return [place.url, '--transport', 'http', '--header', `Authorization: Bearer ${place.token}`]
    }
    const { command, args, env } = bridgeOf(place)
    return [...Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]), command, ...args]
  }
  const ask = (method: string, ...rest: string[]) =>
    run(place, program, ['--cli', ...target(), '--protocol-era', era, '--method', method, ...rest])
  return {
    listTools: async () => everyValue(await ask('tools/list'), 'name'),
    call: (tool, args) => ask('tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args)),
    listResources: async () => everyValue(await ask('resources/list'), 'uri'),
    readResource: uri => ask('resources/read', '--uri', uri),
    listPrompts: async () => everyValue(await ask('prompts/list'), 'name'),
    getPrompt: (name, args) => ask('prompts/get', '--prompt-name', name, '--prompt-args', ...pairs(args)),
    ...nothing,
  }
}

const CONFIG = 'mcp-servers.json'

/** Writes the entry as most clients take it, and returns the file. */
function writeServers(place: Place, over: 'HTTP' | 'stdio', more: object = {}): string {
  const entry =
    over === 'HTTP'
      ? { url: place.url, headers: { Authorization: `Bearer ${place.token}` } }
      : bridgeOf(place)
  const file = join(place.folder, CONFIG)
  writeFileSync(file, JSON.stringify({ mcpServers: { superbloom: { ...entry, ...more } } }))
  return file
}

function openMcporter(place: Place, over: 'HTTP' | 'stdio'): OpenClient {
  const config = writeServers(place, over)
  const ask = (...args: string[]) =>
    run(place, programOf('mcporter', 'mcporter/dist/cli.js'), ['--config', config, ...args])
  return {
    listTools: async () => everyValue(await ask('list', 'superbloom', '--json'), 'name'),
    call: (tool, args) =>
      ask('call', `superbloom.${tool}`, '--args', JSON.stringify(args), '--output', 'json'),
    listResources: async () => everyValue(await ask('resource', 'superbloom', '--json'), 'uri'),
    readResource: uri => ask('resource', 'superbloom', uri, '--json'),
    ...nothing,
  }
}

function openMcpCli(place: Place, over: 'HTTP' | 'stdio'): OpenClient {
  const config = writeServers(place, over)
  const ask = (...args: string[]) =>
    run(place, programOf('mcp-cli', '@wong2/mcp-cli/src/cli.js'), ['--config', config, ...args])
  return {
    call: (tool, args) => ask('call-tool', `superbloom:${tool}`, '--args', JSON.stringify(args)),
    readResource: uri => ask('read-resource', `superbloom:${uri}`),
    getPrompt: (name, args) => ask('get-prompt', `superbloom:${name}`, '--args', JSON.stringify(args)),
    ...nothing,
  }
}

async function openMcpUse(place: Place): Promise<OpenClient> {
  const ask = (...args: string[]) =>
    run(place, programOf('mcp-use', 'mcp-use/dist/bin.js'), ['client', ...args, '--json'])
  await ask('connect', 'superbloom', place.url, '--no-oauth', '-H', `Authorization: Bearer ${place.token}`)
  return {
    listTools: async () => everyValue(await ask('superbloom', 'tools', 'list'), 'name'),
    call: (tool, args) => ask('superbloom', 'tools', 'call', tool, JSON.stringify(args)),
    listResources: async () => everyValue(await ask('superbloom', 'resources', 'list'), 'uri'),
    readResource: uri => ask('superbloom', 'resources', 'read', uri),
    listPrompts: async () => everyValue(await ask('superbloom', 'prompts', 'list'), 'name'),
    getPrompt: (name, args) => ask('superbloom', 'prompts', 'get', name, JSON.stringify(args)),
    ...nothing,
  }
}

const both = ['HTTP', 'stdio'] as const
const INSPECTOR = '@modelcontextprotocol/inspector'

export const commands: readonly ClientDriver[] = [
  {
    name: `${INSPECTOR} --cli, 2026-07-28`,
    over: 'HTTP',
    of: INSPECTOR,
    open: async place => openInspector(place, 'HTTP', 'modern'),
  },
  ...both.map(over => ({
    name: `${INSPECTOR} --cli, legacy`,
    over,
    of: INSPECTOR,
    open: async (place: Place) => openInspector(place, over, 'legacy'),
  })),
  ...both.map(over => ({
    name: 'mcporter',
    over,
    of: 'mcporter',
    installed: 'mcporter' as const,
    open: async (place: Place) => openMcporter(place, over),
  })),
  ...both.map(over => ({
    name: '@wong2/mcp-cli',
    over,
    of: '@wong2/mcp-cli',
    installed: 'mcp-cli' as const,
    open: async (place: Place) => openMcpCli(place, over),
  })),
  { name: 'mcp-use client', over: 'HTTP', of: 'mcp-use', installed: 'mcp-use', open: openMcpUse },
]
