import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'vitest'
import type { HubOverrides } from '../../hub/hub.ts'
import { openClient, type TestClient, textOf } from './clients.ts'
import { type Entry, odd, untilReady } from './downstream.ts'
import { childrenOf, untilNoChildren } from './processes.ts'
import { startTestHub, type TestHub } from './test-hub.ts'
import { until } from './until.ts'

/** What a call to a server that works takes at most, even on a busy machine, while another one misbehaves. */
const SOON_MS = 3_000
/** What caches and the record of the log may grow by meanwhile, bytes. */
const MORE_MEMORY = 40 * 1024 * 1024

/** What the hub, in this process, holds on to. */
interface Census {
  /** Its processes by what they run. */
  children: string[]
  /** How many files, pipes and sockets are open, by their kind. */
  files: Record<string, number>
  /** Handles that processes and pipes are read and written by. */
  handles: number
  /** Bytes, after a collection. */
  memory: number
}

export type ServerState = { name: string; state: string; error?: string } & Record<string, unknown>

/** A hub with a server that works, called `good`, beside the given ones. */
export interface FaultWorld extends AsyncDisposable {
  readonly hub: TestHub
  readonly client: TestClient
  statusOf(server: string): Promise<ServerState | undefined>
  untilState(server: string, state: string): Promise<ServerState>
  /** Calls a tool; what a failed call says is the text. */
  call(tool: string, args?: Record<string, unknown>): Promise<{ text: string; isError: boolean }>
  pidOf(server: string): Promise<number>
  /** Rejects where the good server answered late while something happened to another one. */
  answersDuring(fault: () => Promise<unknown>): Promise<void>
  /**
   * Does something to a server. Rejects where the good one answered late meanwhile, or where afterwards a process, a
   * handle or memory is left that was not there before.
   */
  unharmedBy(fault: () => Promise<unknown>): Promise<void>
}

export async function openFaultWorld(
  servers: Record<string, Entry | Record<string, unknown>>,
  overrides: HubOverrides = {},
): Promise<FaultWorld> {
  const hub = await startTestHub({
    config: JSON.stringify({ servers: { metrics: false, good: odd().entry, ...servers } }),
    overrides,
  })
  const client = await openClient('sdk 2, 2026-07-28', hub)
  await untilReady(hub, 'good')
  const call: FaultWorld['call'] = async (tool, args = {}) => {
    const result = await client.call(tool, args)
    return { text: textOf(result), isError: result.isError === true }
  }
  const statusOf = async (server: string) => {
    const { structuredContent } = await client.call('hub_status')
    return (structuredContent as { servers: ServerState[] }).servers.find(({ name }) => name === server)
  }
  const answersDuring: FaultWorld['answersDuring'] = async fault => {
    const worst = await worstWhile(async () => void (await client.call('good__pid')), fault)
    expect(worst, 'the others answer').toBeLessThan(SOON_MS)
  }
  return {
    hub,
    client,
    statusOf,
    call,
    untilState: (server, state) =>
      until(`${server} is ${state}`, async () => {
        const status = await statusOf(server)
        return status?.state === state && status
      }),
    pidOf: async server => Number((await call(`${server}__pid`)).text),
    answersDuring,
    async unharmedBy(fault) {
      const before = takeCensus(hub)
      await answersDuring(fault)
      await untilNothingLeft(hub, before)
    },
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]()
      await hub[Symbol.asyncDispose]()
      await untilNoChildren()
    },
  }
}

/** The longest that any of the calls took, one after another, while something else happened; milliseconds. */
export async function worstWhile(
  call: () => Promise<void>,
  happens: () => Promise<unknown>,
): Promise<number> {
  let worst = 0
  let over = false
  const loop = async () => {
    while (!over) {
      const started = performance.now()
      await call()
      worst = Math.max(worst, performance.now() - started)
    }
  }
  const looped = loop()
  try {
    await happens()
  } finally {
    over = true
    await looped
  }
  return worst
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

export function takeCensus(hub: TestHub): Census {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return {
    children: childrenOf()
      .map(({ command }) => command)
      .sort(),
    files: countFiles(new URL(hub.url).port),
    handles: process.getActiveResourcesInfo().filter(name => /^(Pipe|Process)/.test(name)).length,
    memory: heapUsed + external,
  }
}

/** Rejects with what is left where it does not go away. */
export async function untilNothingLeft(hub: TestHub, before: Census): Promise<void> {
  let now = before
  await until('nothing is left', () => {
    now = takeCensus(hub)
    return (
      Object.entries(now.files).every(([kind, count]) => count <= (before.files[kind] ?? 0)) &&
      now.handles <= before.handles &&
      now.memory <= before.memory + MORE_MEMORY &&
      JSON.stringify(now.children) === JSON.stringify(before.children)
    )
  }).catch(error => {
    throw new Error(`Left behind: ${JSON.stringify({ before, now })}`, { cause: error })
  })
}

/**
 * Where the descriptors of this process lead: "socket", "pipe", or a file's path. Those between clients of this process
 * and the hub are left out: clients keep some for later.
 */
function countFiles(port: string): Record<string, number> {
  const counts: Record<string, number> = {}
  const between = socketsOf(Number(port))
  for (const descriptor of readdirSync('/proc/self/fd')) {
    const target = targetOf(descriptor)
    const kind = target?.replace(/:\[.*/, '')
    if (target !== undefined && kind !== undefined && !between.has(target))
      counts[kind] = (counts[kind] ?? 0) + 1
  }
  return counts
}

/** Undefined for one that was closed meanwhile: that of the listing itself. */
function targetOf(descriptor: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined
    throw error
  }
}

/** How many ends of connections to a hub are open. */
export function connectionsTo(hub: TestHub): number {
  return socketsOf(Number(new URL(hub.url).port)).size
}

/** The connections of a port of this machine, as descriptors name them. */
function socketsOf(port: number): Set<string> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return new Set(
    readFileSync('/proc/self/net/tcp', 'utf8')
      .split('\n')
      .map(line => line.trim().split(/\s+/))
      .filter(([, local = '', remote = '']) => local.endsWith(suffix) || remote.endsWith(suffix))
      .map(columns => `socket:[${columns[9]}]`),
  )
}
