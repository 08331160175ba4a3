import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestHub } from './test-hub.ts'
import { until } from './until.ts'

const require = createRequire(import.meta.url)
const fixture = (url: URL) => fileURLToPath(url)

/** A server's entry, as under `servers:` of the config or in an mcp.json. */
export interface Entry {
  command: string
  args: string[]
  cwd?: string
  sandbox?: 'auto' | 'strict' | 'off'
}

/** Returns the entry of a real server from npm. */
export function npmServer(name: 'everything' | 'filesystem' | 'memory', ...args: string[]): Entry {
  const manifest = require.resolve(`@modelcontextprotocol/server-${name}/package.json`)
  return { command: 'node', args: [join(dirname(manifest), 'dist', 'index.js'), ...args] }
}

/**
 * Returns a hand-written server that misbehaves in the given ways (see its file). It runs in no sandbox: it
 * reports its process by the number that the machine knows it by.
 */
export function odd(...modes: string[]): { entry: Entry } {
  const file = fixture(new URL('../fixtures/odd-server.ts', import.meta.url))
  return { entry: { command: process.execPath, args: [file, ...modes], sandbox: 'off' } }
}

/** A server of the SDK that records its requests; disposing removes the record. */
export interface Configured extends Disposable {
  entry: Entry
  /** Resolves when the server has recorded this line. */
  recorded(line: string): Promise<unknown>
}

/** Returns a server with a homelab's tools; every call is appended to the file. */
export function homelabServer(file: string): Entry {
  return {
    command: process.execPath,
    args: [fixture(new URL('../fixtures/homelab-server.ts', import.meta.url)), file],
  }
}

/** Returns a server that sends requests to its caller, in the way of its era. */
export function askingServer(era: 'modern' | 'legacy'): Entry {
  return {
    command: process.execPath,
    args: [fixture(new URL('../fixtures/asking-server.ts', import.meta.url)), era],
  }
}

export function recorder(): Configured {
  const program = fixture(new URL('../fixtures/recorder.ts', import.meta.url))
  const folder = mkdtempSync(join(tmpdir(), 'superbloom-recorder-'))
  const file = join(folder, 'lines')
  const lines = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [])
  return {
    entry: { command: process.execPath, args: [program, file] },
    recorded: line => until(`the server records "${line}"`, () => lines().includes(line)),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Waits until these servers are connected, since the hub's last start. */
export async function untilReady(hub: TestHub, ...servers: string[]): Promise<void> {
  for (const server of servers) {
    await hub.logs.find(
      `${server} is ready`,
      entry => entry.event === 'server_ready' && entry.server === server,
      hub.startedFrom,
    )
  }
}
