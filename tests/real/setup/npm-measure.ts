import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  type CallToolResult,
  Client,
  ProtocolError,
  StreamableHTTPClientTransport,
  type Tool,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { memoryOf } from '../../bench/start/usage.ts'
import { textOf } from '../../support/clients.ts'
import { childrenOf, isRunning, type Process, startedAt } from '../../support/processes.ts'
import { startTestHub, type TestHub } from '../../support/test-hub.ts'
import { compareOffers, type Offered, readOffered } from './npm-offers.ts'
import { furnish, type NpmServer, type NpmWorld, toEntry } from './npm-servers.ts'
import { startPrometheusLab } from './prometheus.ts'

/** The measurements of a server through the hub. */
export interface Measured {
  server: NpmServer
  era: Era
  /** Milliseconds from the start of its process until its tools are in the hub. */
  starts: number
  /** Mebibytes of its process and its children. */
  memory: number
  /** What each process of its program sees in the hub's data folder, without the sandbox around it. */
  seen: string[][]
  tools: number
  offered: Offered
  /** Differences between the server's own lists and contents and the hub's. */
  lost: string[]
  /** Names that differ from the prefix and the server's own name. */
  renamed: string[]
  /** The result's text of its call through the hub, and directly. */
  answer: string
  failed: boolean
  structured: boolean
  capabilities: Capabilities
  /** Milliseconds from a SIGKILL until its tools are listed again. */
  back: number
  /** The text of its call after the restart. */
  answerAfter: string
  /** Processes from before the SIGKILL that still run. */
  left: Process[]
}

type Era = 'legacy' | 'modern'
type Capabilities = NonNullable<ReturnType<Client['getServerCapabilities']>>

const INFO = { name: 'superbloom-tests', version: '1.0.0' }
const START_MS = 60_000

/** Opens a homelab for the servers. Disposing ends it and removes the written files. */
export async function openNpmWorld(): Promise<NpmWorld & AsyncDisposable> {
  await using stack = new AsyncDisposableStack()
  // One of the servers converts all paths to lower case.
  const folder = join(tmpdir(), `superbloom-npm-${randomUUID()}`)
  mkdirSync(folder)
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  furnish(folder)
  const { prometheus, alertmanager } = stack.use(await startPrometheusLab())
  const whole = stack.move()
  return { folder, prometheus, alertmanager, [Symbol.asyncDispose]: () => whole.disposeAsync() }
}

/**
 * Starts a hub with these servers in its config; lists, calls and kills each, and also asks each directly.
 */
export async function measure(
  servers: readonly NpmServer[],
  programOf: (server: NpmServer) => string,
  world: NpmWorld,
): Promise<Measured[]> {
  const entries = servers.map(server => [server.name, toEntry(server, programOf(server), world)] as const)
  const config = JSON.stringify({ servers: { metrics: false, ...Object.fromEntries(entries) } })
  await using hub = await startTestHub({ config })
  for (const { name } of servers) await untilReadyAgain(hub, name, 0)
  const clients = { legacy: await openHubClient(hub, 'legacy'), modern: await openHubClient(hub, 'modern') }
  try {
    // Fields of a tool that only one era knows, such as `execution`, are sent only to clients of that era.
    const lists = { legacy: await readLists(clients.legacy), modern: await readLists(clients.modern) }
    return await Promise.all(
      servers.map(server => measureOne({ server, world, hub, clients, lists, program: programOf(server) })),
    )
  } finally {
    await clients.legacy.close()
    await clients.modern.close()
  }
}

async function openHubClient({ url, token }: TestHub, era: Era): Promise<Client> {
  const client = createClient(era)
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', url), {
      requestInit: { headers: { Authorization: `Bearer ${token}` } },
    }),
  )
  return client
}

function createClient(era: Era): Client {
  return new Client(INFO, { versionNegotiation: { mode: era === 'legacy' ? era : { pin: '2026-07-28' } } })
}

type Lists = Offered & { tools: Tool[] }

async function readLists(client: Client): Promise<Lists> {
  const { tools } = await client.listTools(undefined, { cacheMode: 'refresh' })
  return { tools, ...(await readOffered(client)) }
}

interface Place {
  server: NpmServer
  world: NpmWorld
  hub: TestHub
  clients: Record<Era, Client>
  /** The hub's lists for clients of either era. */
  lists: Record<Era, Lists>
  program: string
}

async function measureOne(place: Place): Promise<Measured> {
  const { server, hub, program, world } = place
  const ready = await untilReadyAgain(hub, server.name, 0)
  const child = childrenOf().find(
    ({ parent, command }) => parent === process.pid && command.includes(program),
  )
  if (!child) throw new Error(`No process runs ${program}`)
  const family = [child, ...childrenOf(child.pid)]
  const starts = Date.parse(ready.time) - startedAt(child.pid)
  const memory = family.reduce((sum, { pid }) => sum + memoryOf(pid).rss, 0)
  const prefix = toEntry(server, program, world).prefix ?? `${server.name}__`
  const seen = family
    .filter(({ pid, command }) => pid !== child.pid && command.includes(program))
    .map(({ pid }) => readdirSync(join('/proc', String(pid), 'root', hub.dataFolder)))
  const direct = await askDirectly(place, ready.era, prefix)
  const found = direct.lists.tools.map(tool => ({ tool, name: nameInHub(tool, place, ready.era, prefix) }))
  const result = await callThroughHub(place, prefix)
  const { back, answerAfter } = await kill(child, place, prefix)
  return {
    server,
    era: ready.era,
    starts,
    memory,
    seen,
    tools: ready.tools,
    offered: direct.lists,
    lost: [
      ...found.flatMap(({ tool, name }) => (name === undefined ? [tool.name] : [])),
      ...direct.differing,
    ],
    renamed: found.flatMap(({ tool, name }) => (name === `${prefix}${tool.name}` ? [] : (name ?? []))),
    answer: textOf(result),
    failed: result.isError === true,
    structured: result.structuredContent !== undefined,
    capabilities: direct.capabilities,
    back,
    answerAfter,
    left: family.filter(({ pid }) => isRunning(pid)),
  }
}

/** Reads the server without the hub; a legacy server is not probed for its era. */
async function askDirectly(place: Place, era: Era, prefix: string) {
  const { server, program, world, clients, lists } = place
  const { command, args, env, cwd } = toEntry(server, program, world)
  const client = createClient(era)
  const path = process.env['PATH'] ?? ''
  const transport = new StdioClientTransport({
    command,
    args,
    cwd,
    env: { PATH: path, ...env },
    stderr: 'ignore',
  })
  await client.connect(transport, { timeout: START_MS })
  try {
    const own = await readLists(client)
    const differing = await compareOffers({ direct: client, hub: clients[era], prefix }, own, lists[era])
    return { lists: own, differing, capabilities: client.getServerCapabilities() ?? {} }
  } finally {
    await client.close()
  }
}

/** Returns the hub's name of the tool that is equal except for its name. */
function nameInHub(tool: Tool, { server, lists }: Place, era: Era, prefix: string): string | undefined {
  const names = [`${prefix}${tool.name}`, `${server.name}__${tool.name}`]
  const same = lists[era].tools.filter(one => isDeepStrictEqual({ ...one, name: '' }, { ...tool, name: '' }))
  return names.find(name => same.some(one => one.name === name)) ?? same[0]?.name
}

/**
 * Calls through the hub. Some servers report failures in a result, others as a protocol error: both arrive
 * unchanged.
 */
async function callThroughHub({ server, world, clients }: Place, prefix: string): Promise<CallToolResult> {
  const { tool, args } = server.call
  const call = { name: `${prefix}${tool}`, arguments: args?.(world) ?? {} }
  try {
    return await clients.modern.callTool(call, { timeout: START_MS })
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    return { content: [{ type: 'text', text: error.message }], isError: true }
  }
}

async function kill(child: Process, place: Place, prefix: string) {
  const { hub, server } = place
  const from = hub.logs.all.length
  const began = performance.now()
  process.kill(child.pid, 'SIGKILL')
  await untilReadyAgain(hub, server.name, from)
  const back = performance.now() - began
  return { back, answerAfter: textOf(await callThroughHub(place, prefix)) }
}

interface Ready {
  time: string
  era: Era
  tools: number
}

async function untilReadyAgain(hub: TestHub, name: string, from: number): Promise<Ready> {
  const isIt = (entry: Record<string, unknown>) =>
    entry['event'] === 'server_ready' && entry['server'] === name
  const entry = await hub.logs.find(`${name} is ready`, isIt, from, START_MS).catch(error => {
    const last = hub.logs.all.filter(({ server }) => server === name).slice(-8)
    throw new Error(`${name} is not ready: ${JSON.stringify(last)}`, { cause: error })
  })
  return entry as unknown as Ready
}
