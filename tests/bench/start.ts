import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ensureBuilt, root } from '../support/built.ts'
import { recordImports, startHub, startImportsOnly, startServer } from './start/subjects.ts'
import { cpuOf, type Memory, median, memoryOf, round } from './start/usage.ts'

const STARTS = 10
const MEMORY_ROUNDS = 3
/** Milliseconds after which the effects of a start have settled. */
const SETTLE_MS = 5_000
const IDLE_MS = 30_000

const METRICS = join(root, 'dist', 'servers', 'metrics', 'server.js')
const BARE_SERVER = join(import.meta.dirname, 'start', 'bare-server.mjs')

type Kind = 'hub' | 'imports' | 'metrics' | 'bare'

/** Measures the built hub with its metrics server: its start, and its use while idle. */
export async function start(): Promise<Record<string, number>> {
  ensureBuilt()
  const imports = await recordImports()
  console.log(`The hub loads: ${packagesOf(imports).join(', ')}\n`)
  const times = await measureStarts()
  const memory: Record<Kind, Memory>[] = []
  for (let round = 0; round < MEMORY_ROUNDS; round++) memory.push(await measureMemory(imports))
  const idle = await measureIdle()
  return {
    ...timesOf(times),
    ...memoryFigures(memory),
    'idle CPU of hub and server, % of a core (aim under 0.2)': idle,
  }
}

async function measureStarts(): Promise<number[]> {
  const times: number[] = []
  for (let count = 0; count <= STARTS; count++) {
    await using hub = await startHub()
    // The first start fills the cache of compiled code.
    if (count > 0) times.push(hub.readyAfter)
    await hub.stop()
  }
  return times
}

/** Starts all at the same time, so that they share the same pages. */
async function measureMemory(imports: readonly string[]): Promise<Record<Kind, Memory>> {
  await using hub = await startHub()
  await using importsOnly = await startImportsOnly(imports)
  await using metrics = await startServer(METRICS)
  await using bare = await startServer(BARE_SERVER)
  await pause(SETTLE_MS)
  return {
    hub: memoryOf(hub.pid),
    imports: memoryOf(importsOnly.pid),
    metrics: memoryOf(metrics.pid),
    bare: memoryOf(bare.pid),
  }
}

/** Returns percent of one core. */
async function measureIdle(): Promise<number> {
  await using hub = await startHub()
  await pause(SETTLE_MS)
  const [before, began] = [cpuOf(hub.pid), performance.now()]
  await pause(IDLE_MS)
  return round(((cpuOf(hub.pid) - before) * 100) / (performance.now() - began), 3)
}

function timesOf(times: readonly number[]): Record<string, number> {
  return {
    'start to ready, median, ms (aim under 1000)': round(median(times), 0),
    'start to ready, slowest, ms': round(Math.max(...times), 0),
  }
}

function memoryFigures(rounds: readonly Record<Kind, Memory>[]): Record<string, number> {
  const of = (kind: Kind, what: keyof Memory) => median(rounds.map(one => one[kind][what]))
  const figures: Record<string, number> = {}
  for (const [kind, base, label, aim] of [
    ['hub', 'imports', 'hub over its imports', 25],
    ['metrics', 'bare', 'metrics server over a bare one', 15],
  ] as const) {
    for (const what of ['rss', 'pss'] as const) {
      const unit = `${what.toUpperCase()} MiB`
      figures[`${kind}, ${unit}`] = round(of(kind, what), 1)
      figures[`${base}, ${unit}`] = round(of(base, what), 1)
      const name = what === 'rss' ? `${label}, ${unit} (aim at most ${aim})` : `${label}, ${unit}`
      figures[name] = round(of(kind, what) - of(base, what), 1)
    }
  }
  return figures
}

function packagesOf(addresses: readonly string[]): string[] {
  const names = addresses
    .filter(address => address.startsWith('file:'))
    .map(address => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(fileURLToPath(address))?.[1] ?? address)
  return [...new Set(names)].sort()
}
