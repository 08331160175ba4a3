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

/**
 * Milliseconds that a call to a healthy server takes at most, on a busy machine while another server
 * misbehaves.
 */
const SOON_MS = 3_000
/** Bytes by which caches and the log's record may grow meanwhile. */
const MORE_MEMORY = 40 * 1024 * 1024

/** The resources of the hub, which runs in this process. */
interface Census {
  /** Commands of its child processes. */
  children: string[]
  /** Number of open files, pipes and sockets, by kind. */
  files: Record<string, number>
  /** Number of handles for processes and pipes. */
  handles: number
  /** Bytes, after a garbage collection. */
  memory: number
}

export type ServerState = { name: string; state: string; error?: string } & Record<string, unknown>

/** A hub with a healthy server, called `good`, beside the given ones. */
export interface FaultWorld extends AsyncDisposable {
  readonly hub: TestHub
  readonly client: TestClient
  statusOf(server: string): Promise<ServerState | undefined>
  untilState(server: string, state: string): Promise<ServerState>
  /** Calls a tool; a failed call's message is the text. */
  call(tool: string, args?: Record<string, unknown>): Promise<{ text: string; isError: boolean }>
  pidOf(server: string): Promise<number>
  /** Rejects if the good server answered late during a fault of another one. */
  answersDuring(fault: () => Promise<unknown>): Promise<void>
  /**
   * Causes a fault in a server. Rejects if the good server answered late meanwhile, or if a new process,
   * handle or memory is left afterwards.
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

/** Returns milliseconds of the slowest of successive calls while something else happens. */
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

/** Waits until no new resources are left; rejects with those that remain. */
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
 * Counts the targets of this process's descriptors: "socket", "pipe", or a file's path. Connections between
 * clients of this process and the hub are left out: clients keep some for later.
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

/** Returns undefined for a descriptor that was closed meanwhile: that of the listing itself. */
function targetOf(descriptor: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined
    throw error
  }
}

/** Returns the number of open connection ends to a hub. */
export function connectionsTo(hub: TestHub): number {
  return socketsOf(Number(new URL(hub.url).port)).size
}

/** Returns the connections of a port of this machine, in the form of descriptors' targets. */
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
