import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { builtProgram, root } from '../../support/built.ts'
import { openClient } from '../../support/clients.ts'
import { childrenOf } from '../../support/processes.ts'
import { type Program, startProgram } from '../../support/program.ts'

/** Milliseconds between two readiness requests. */
const ASK_EVERY_MS = 2

/** A measured process. */
export interface Subject extends AsyncDisposable {
  readonly pid: number
}

/** The built hub with its metrics server, at its first start in an empty folder. */
export interface HubSubject extends Subject {
  readonly metricsPid: number
  /** Milliseconds from the start of the process until `/readyz` said 200. */
  readonly readyAfter: number
  /** Stops it cleanly. */
  stop(): Promise<void>
}

export async function startHub(
  options: { nodeArgs?: string[]; env?: Record<string, string> } = {},
): Promise<HubSubject> {
  const { nodeArgs = [], env = {} } = options
  const folder = mkdtempSync(join(tmpdir(), 'superbloom-bench-'))
  const variables = {
    SUPERBLOOM_CONFIG: '',
    SUPERBLOOM_DATA: join(folder, 'data'),
    SUPERBLOOM_AGENTS: join(folder, 'agents'),
    SUPERBLOOM_MODEL: '',
    SUPERBLOOM_PORT: '0',
    ...env,
  }
  const began = performance.now()
  const program = await startProgram(process.execPath, [...nodeArgs, builtProgram, 'start'], {
    cwd: folder,
    env: variables,
  })
  const url = (await program.says(/Open (http:\S+)/))[1] ?? ''
  while ((await fetch(`${url}/readyz`)).status !== 200) await pause(ASK_EVERY_MS)
  const readyAfter = performance.now() - began
  const metrics = childrenOf(program.pid).find(({ command }) => command.includes('servers/metrics'))
  const dispose = async () => {
    await program[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  }
  return {
    pid: program.pid,
    metricsPid: metrics?.pid ?? Number.NaN,
    readyAfter,
    async stop() {
      program.signal('SIGTERM')
      await program.ended
    },
    [Symbol.asyncDispose]: dispose,
  }
}

/**
 * Returns the addresses of all modules that the hub's own files import from elsewhere, until the start is
 * complete.
 */
export async function recordImports(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'superbloom-bench-'))
  const file = join(folder, 'imports.json')
  try {
    const hook = join(import.meta.dirname, 'record-imports.mjs')
    await using hub = await startHub({ nodeArgs: ['--import', hook], env: { RECORD_IMPORTS: file } })
    await hub.stop()
    return JSON.parse(readFileSync(file, 'utf8')) as string[]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts a process that only imports these modules; like the built hub, it caches no compiled code. */
export async function startImportsOnly(addresses: readonly string[]): Promise<Subject> {
  const folder = mkdtempSync(join(tmpdir(), 'superbloom-bench-'))
  const file = join(folder, 'imports-only.mjs')
  const lines = addresses.map(address => `await import(${JSON.stringify(address)})`)
  const end = "setInterval(() => undefined, 2 ** 30)\nconsole.log('loaded')"
  writeFileSync(file, `${lines.join('\n')}\n${end}\n`)
  const program: Program = await startProgram(process.execPath, [file], { cwd: root })
  await program.says(/loaded/)
  const dispose = async () => {
    await program[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  }
  return { pid: program.pid, [Symbol.asyncDispose]: dispose }
}

/** Starts a server over stdio, and a client that has listed its tools. */
export async function startServer(file: string): Promise<Subject> {
  const target = {
    command: process.execPath,
    args: [file],
    env: { PATH: process.env['PATH'] ?? '' },
    cwd: root,
  }
  const client = await openClient('sdk 2, 2026-07-28', target)
  await client.listTools()
  return { pid: client.pid ?? Number.NaN, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() }
}
