import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ensureBuilt, root } from '../support/built.ts'
import { openClient, type TestClient } from '../support/clients.ts'
import { openServerCases, type ServerCase } from './servers/cases.ts'
import { cpuOf, median, memoryOf, round } from './start/usage.ts'

const STARTS = 7
/** Milliseconds after which the effects of a start have settled. */
const SETTLE_MS = 12_000
const IDLE_MS = 20_000
const WARM_UP = 20
const CALLS = 60
const BARE = join(root, 'tests', 'bench', 'start', 'bare-server.mjs')

/**
 * Measures the five built servers with upstreams on loopback: start, memory, idle CPU, and the time that a
 * tool adds to its requests.
 */
export async function servers(): Promise<Record<string, number>> {
  ensureBuilt()
  const folder = mkdtempSync(join(tmpdir(), 'superbloom-bench-'))
  try {
    await using cases = await openServerCases(folder)
    const figures: Record<string, number> = {}
    const starting = { NODE_COMPILE_CACHE: join(folder, 'compiled') }
    for (const one of cases.all)
      figures[`${one.name}: start to tools listed, ms (aim under 400)`] = await measureStart(one, starting)
    Object.assign(figures, await measureIdle(cases.all, starting))
    for (const one of cases.all) Object.assign(figures, await measureTools(one, starting))
    return figures
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Variables = Readonly<Record<string, string>>

async function open(file: string, env: Variables): Promise<TestClient> {
  const variables = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env }
  const client = await openClient('sdk 2, 2026-07-28', {
    command: process.execPath,
    args: [file],
    env: variables,
    cwd: root,
  })
  await client.listTools()
  return client
}

const fileOf = ({ name }: ServerCase) => join(root, 'dist', 'servers', name, 'server.js')

async function measureStart(one: ServerCase, starting: Variables): Promise<number> {
  const times: number[] = []
  for (let count = 0; count <= STARTS; count++) {
    const began = performance.now()
    const client = await open(fileOf(one), { ...one.env, ...starting })
    // The first start fills the cache of compiled code.
    if (count > 0) times.push(performance.now() - began)
    await client[Symbol.asyncDispose]()
  }
  return Math.round(median(times))
}

/** Starts all at the same time, so that they share the same pages, with their watchers on. */
async function measureIdle(all: readonly ServerCase[], starting: Variables): Promise<Record<string, number>> {
  await using stack = new AsyncDisposableStack()
  const bare = stack.use(await open(BARE, starting))
  const running = new Map<string, TestClient>()
  for (const one of all)
    running.set(one.name, stack.use(await open(fileOf(one), { ...one.env, ...starting })))
  await pause(SETTLE_MS)
  const rss = (client: TestClient) => memoryOf(client.pid ?? 0).rss
  const figures: Record<string, number> = { 'bare server: resident MiB': round(rss(bare), 1) }
  for (const [name, client] of running) {
    figures[`${name}: over a bare server, MiB (aim at most 15)`] = round(rss(client) - rss(bare), 1)
  }
  const began = performance.now()
  const before = new Map([...running].map(([name, client]) => [name, cpuOf(client.pid ?? 0)]))
  await pause(IDLE_MS)
  const elapsed = performance.now() - began
  for (const [name, client] of running) {
    const used = cpuOf(client.pid ?? 0) - (before.get(name) ?? 0)
    figures[`${name}: idle CPU with watchers, % of a core`] = round((used * 100) / elapsed, 2)
  }
  return figures
}

async function measureTools(one: ServerCase, starting: Variables): Promise<Record<string, number>> {
  await using client = await open(fileOf(one), { ...one.env, ...starting })
  await one.prepare?.(client)
  const figures: Record<string, number> = {}
  for (const { tool, args = {}, bare } of one.reads) {
    const times = { tool: [] as number[], bare: [] as number[] }
    for (let count = 0; count < WARM_UP + CALLS; count++) {
      const begun = performance.now()
      await bare()
      const between = performance.now()
      const { isError, content } = await client.call(tool, args)
      if (isError) throw new Error(`${tool} failed: ${JSON.stringify(content)}`)
      if (count < WARM_UP) continue
      times.bare.push(between - begun)
      times.tool.push(performance.now() - between)
    }
    const [with_, without] = [median(times.tool), median(times.bare)]
    figures[`${one.name}: ${tool}, ms over the bare request of ${round(without, 1)} ms (aim under 3)`] =
      round(with_ - without, 2)
  }
  return figures
}
