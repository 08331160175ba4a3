import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { start } from '../../support/cli.ts'
import { bridgeOf, type ClientDriver, type OpenClient, type Place } from './open-client.ts'
import { programOf } from './packages.ts'

/** Programs that list and call from a shell: each command is a process and a connection of its own. */

/**
 * Runs one command in the client's own home, and returns its output as JSON, or else as text. Throws if it
 * failed.
 */
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

/** Returns the values of this key in a list: the first array of that name at any depth. */
function everyOf(value: unknown, list: string, key: string): string[] {
  if (typeof value !== 'object' || value === null) return []
  for (const [name, inner] of Object.entries(value)) {
    if (name !== list || !Array.isArray(inner)) {
      const deeper = everyOf(inner, list, key)
      if (deeper.length > 0) return deeper
    } else return inner.map(one => String(one[key]))
  }
  return []
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
    listTools: async () => everyOf(await ask('tools/list'), 'tools', 'name'),
    call: (tool, args) => ask('tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args)),
    listResources: async () => everyOf(await ask('resources/list'), 'resources', 'uri'),
    readResource: uri => ask('resources/read', '--uri', uri),
    listPrompts: async () => everyOf(await ask('prompts/list'), 'prompts', 'name'),
    getPrompt: (name, args) => ask('prompts/get', '--prompt-name', name, '--prompt-args', ...pairs(args)),
    ...nothing,
  }
}

const CONFIG = 'mcp-servers.json'

/** Writes the server's entry in the form that most clients take, and returns the file. */
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
    listTools: async () => everyOf(await ask('list', 'superbloom', '--json'), 'tools', 'name'),
    call: (tool, args) =>
      ask('call', `superbloom.${tool}`, '--args', JSON.stringify(args), '--output', 'json'),
    listResources: async () => everyOf(await ask('resource', 'superbloom', '--json'), 'resources', 'uri'),
    readResource: uri => ask('resource', 'superbloom', uri, '--json'),
    ...nothing,
  }
}

/** Opens mcp-cli, which connects only over stdio when no person is at its keyboard. */
function openMcpCli(place: Place): OpenClient {
  const config = writeServers(place, 'stdio')
  const ask = (...args: string[]) =>
    run(place, programOf('mcp-cli', '@wong2/mcp-cli/src/cli.js'), ['--config', config, ...args])
  return {
    call: (tool, args) => ask('call-tool', `superbloom:${tool}`, '--args', JSON.stringify(args)),
    // Resources are left out: it cuts a resource's address at its colon.
    getPrompt: (name, args) => ask('get-prompt', `superbloom:${name}`, '--args', JSON.stringify(args)),
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
  {
    name: '@wong2/mcp-cli',
    over: 'stdio',
    of: '@wong2/mcp-cli',
    installed: 'mcp-cli',
    open: async place => openMcpCli(place),
  },
]
