import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installPackages } from './npm-packages.ts'

/** The data and programs that servers read, made new for each run. */
export interface NpmWorld {
  /** The folder with a vault of notes, a git repository, and a program with a bug. */
  folder: string
  /** "http://127.0.0.1:40123". */
  prometheus: string
  alertmanager: string
}

/** A third-party server, its configuration by a person, and one call that reads something. */
export interface NpmServer {
  /** Its key in the config. */
  name: string
  package: string
  version: string
  /** Returns the entry's fields besides the program. */
  entry?(world: NpmWorld): { args?: string[]; env?: Record<string, string>; prefix?: string }
  call: {
    tool: string
    args?(world: NpmWorld): Record<string, unknown>
    says: string
    /** True if its upstream does not exist: the server's message about that arrives unchanged. */
    fails?: true
  }
}

const notes = ({ folder }: NpmWorld) => join(folder, 'vault')
const disks = (world: NpmWorld) => ({ path: join(notes(world), 'disks.md') })
const DISKS = 'The NAS has 4 disks'
const NOBODY = 'http://127.0.0.1:1'

/** Servers that install in half a minute and start in less than a second each. */
export const smallServers: readonly NpmServer[] = [
  {
    name: 'everything',
    package: '@modelcontextprotocol/server-everything',
    version: '2026.8.31',
    entry: () => ({ prefix: '' }),
    call: {
      tool: 'get-structured-content',
      args: () => ({ location: 'Chicago' }),
      says: '"conditions":"Light rain / drizzle"',
    },
  },
  {
    name: 'filesystem',
    package: '@modelcontextprotocol/server-filesystem',
    version: '2026.8.31',
    entry: world => ({ args: [notes(world)] }),
    call: { tool: 'read_text_file', args: disks, says: DISKS },
  },
  {
    name: 'memory',
    package: '@modelcontextprotocol/server-memory',
    version: '2026.8.31',
    entry: ({ folder }) => ({ env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } }),
    call: { tool: 'read_graph', says: 'has 4 disks' },
  },
  {
    name: 'thinking',
    package: '@modelcontextprotocol/server-sequential-thinking',
    version: '2026.8.31',
    call: {
      tool: 'sequentialthinking',
      args: () => ({ thought: 'Disks first', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }),
      says: '"thoughtHistoryLength": ',
    },
  },
  {
    name: 'postgres',
    package: '@modelcontextprotocol/server-postgres',
    version: '0.6.2',
    entry: () => ({ args: ['postgres://127.0.0.1:1/nobody'] }),
    call: { tool: 'query', args: () => ({ sql: 'select 1' }), says: 'ECONNREFUSED', fails: true },
  },
  {
    name: 'system',
    package: '@modelcontextprotocol/server-system-monitor',
    version: '2.0.3',
    entry: () => ({ args: ['--stdio'] }),
    call: { tool: 'get-system-info', says: '"hostname":' },
  },
  {
    name: 'git',
    package: '@cyanheads/git-mcp-server',
    version: '2.15.3',
    call: {
      tool: 'git_log',
      args: ({ folder }) => ({ path: join(folder, 'repository') }),
      says: '"subject": "First light"',
    },
  },
  {
    name: 'alertmanager',
    package: 'mcp-alertmanager',
    version: '2.1.1',
    entry: ({ alertmanager }) => ({ env: { ALERTMANAGER_URL: alertmanager } }),
    call: { tool: 'getAlertmanagerStatus', says: 'uptime' },
  },
  {
    name: 'prometheus',
    package: 'prometheus-mcp',
    version: '1.1.3',
    entry: ({ prometheus }) => ({ args: ['stdio'], env: { PROMETHEUS_URL: prometheus } }),
    call: { tool: 'prometheus_build_info', says: '"version"' },
  },
  {
    name: 'arr',
    package: 'mcp-arr-server',
    version: '1.7.3',
    entry: () => ({ env: { SONARR_URL: NOBODY, SONARR_API_KEY: 'none' } }),
    call: { tool: 'arr_status', says: '"radarr": {\n    "configured": false' },
  },
  {
    name: 'hello',
    package: 'mcp-hello-world',
    version: '1.1.2',
    // Its tool `echo` has the same name as another server's tool.
    entry: () => ({ prefix: '' }),
    call: { tool: 'add', args: () => ({ a: 2, b: 3 }), says: 'The sum is: 5' },
  },
  {
    name: 'time',
    package: 'time-mcp',
    version: '1.0.6',
    call: { tool: 'days_in_month', args: () => ({ date: '2026-02-01' }), says: 'days in month is 28' },
  },
  {
    name: 'calc',
    package: '@coo-quack/calc-mcp',
    version: '2.1.1',
    call: {
      tool: 'hash',
      args: () => ({ action: 'hash', algorithm: 'md5', input: 'superbloom' }),
      says: '6e42ca6c892dd47c1c3c8e48e62ce93d',
    },
  },
  {
    name: 'eslint',
    package: '@eslint/mcp',
    version: '0.3.13',
    call: {
      tool: 'lint-files',
      args: ({ folder }) => ({ filePaths: [join(folder, 'program', 'faulty.js')] }),
      says: 'no-unused-vars',
    },
  },
  {
    name: 'obsidian',
    package: 'mcp-obsidian',
    version: '1.0.0',
    entry: world => ({ args: [notes(world)] }),
    call: { tool: 'search_notes', args: () => ({ query: 'disk' }), says: 'disks.md' },
  },
  {
    name: 'fast',
    package: 'fast-filesystem-mcp',
    version: '3.5.2',
    entry: world => ({ args: ['--allow', notes(world)] }),
    call: { tool: 'fast_read_file', args: disks, says: DISKS },
  },
  {
    name: 'context7',
    package: '@upstash/context7-mcp',
    version: '4.1.1',
    // Its tools use the internet; this address refuses.
    entry: () => ({ env: { CONTEXT7_API_URL: NOBODY } }),
    call: {
      tool: 'resolve-library-id',
      args: () => ({ libraryName: 'vitest', query: 'snapshots' }),
      says: 'Error searching libraries',
    },
  },
  {
    name: 'fetch',
    package: 'mcp-fetch-server',
    version: '1.1.2',
    call: {
      tool: 'fetch_txt',
      args: ({ prometheus }) => ({ url: prometheus }),
      says: 'blocked request to private address',
      fails: true,
    },
  },
]

/** Large servers: a Go program of 75 MB, another of 100 MB, a browser, a PDF reader. */
export const largeServers: readonly NpmServer[] = [
  {
    name: 'kubernetes',
    package: 'kubernetes-mcp-server',
    version: '0.0.67',
    entry: ({ folder }) => ({ env: { KUBECONFIG: join(folder, 'kubeconfig') } }),
    call: { tool: 'configuration_view', says: 'current-context: lab' },
  },
  {
    name: 'excel',
    package: '@negokaz/excel-mcp-server',
    version: '0.12.0',
    call: {
      tool: 'excel_describe_sheets',
      args: ({ folder }) => ({ fileAbsolutePath: join(folder, 'none.xlsx') }),
      says: 'no such file',
      fails: true,
    },
  },
  {
    name: 'pdf',
    package: '@modelcontextprotocol/server-pdf',
    version: '2.0.4',
    entry: () => ({ args: ['--stdio'] }),
    call: { tool: 'list_pdfs', says: 'remote PDF' },
  },
  {
    name: 'charts',
    package: '@antv/mcp-server-chart',
    version: '0.9.10',
    // The server draws by a request to an address; this one refuses.
    entry: () => ({ env: { VIS_REQUEST_SERVER: NOBODY } }),
    call: {
      tool: 'generate_pie_chart',
      args: () => ({ data: [{ category: 'used', value: 3 }] }),
      says: 'ECONNREFUSED',
      fails: true,
    },
  },
  {
    name: 'playwright',
    package: '@playwright/mcp',
    version: '0.0.83',
    entry: () => ({
      args: ['--headless', '--no-sandbox', '--isolated', '--executable-path', '/usr/bin/chromium'],
    }),
    call: {
      tool: 'browser_navigate',
      args: () => ({ url: 'data:text/html,<title>Lab</title><h1>Disks</h1>' }),
      says: 'Page Title: Lab',
    },
  },
]

/** Installs the servers once for all later runs; returns a function that finds a server's program. */
export function installServers(servers: readonly NpmServer[], title: string): (server: NpmServer) => string {
  const versions = Object.fromEntries(servers.map(({ package: name, version }) => [name, version]))
  const folder = installPackages(versions, title)
  return ({ package: name }) => {
    const home = join(folder, 'node_modules', name)
    const { bin } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as Manifest
    const file = typeof bin === 'string' ? bin : Object.values(bin)[0]
    if (file === undefined) throw new Error(`${name} has no program`)
    return join(home, file)
  }
}

interface Manifest {
  bin: string | Record<string, string>
}

/** Returns an entry of the config, as a person writes it. */
export function toEntry(server: NpmServer, program: string, world: NpmWorld) {
  const { args = [], env = {}, ...rest } = server.entry?.(world) ?? {}
  return {
    command: process.execPath,
    args: [program, ...args],
    env: { HOME: world.folder, ...env },
    cwd: world.folder,
    ...rest,
  }
}

/** Writes the servers' data into a folder. */
export function furnish(folder: string): void {
  for (const name of ['vault', 'repository', 'program']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'vault', 'disks.md'), `# Disks\n\n${DISKS}\n`)
  writeFileSync(join(folder, 'memory.jsonl'), MEMORY)
  writeFileSync(join(folder, 'kubeconfig'), KUBECONFIG)
  writeFileSync(join(folder, 'program', 'faulty.js'), 'var unused = 1\n')
  writeFileSync(
    join(folder, 'eslint.config.mjs'),
    'export default [{ rules: { "no-unused-vars": "error" } }]\n',
  )
  const git = (...args: string[]) => execFileSync('git', args, { cwd: join(folder, 'repository') })
  git('init', '--quiet')
  const author = ['-c', 'user.name=Lab', '-c', 'user.email=lab@example.com']
  git(...author, 'commit', '--quiet', '--allow-empty', '--message', 'First light')
}

const MEMORY = '{"type":"entity","name":"NAS","entityType":"machine","observations":["has 4 disks"]}\n'
const KUBECONFIG = `apiVersion: v1
kind: Config
current-context: lab
clusters: [{ name: lab, cluster: { server: '${NOBODY}' } }]
contexts: [{ name: lab, context: { cluster: lab, user: lab } }]
users: [{ name: lab, user: {} }]
`
