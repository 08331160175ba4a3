import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentStatus } from '../schemas/chat.ts'
import { readBudgets } from './budgets.ts'
import type { Servers } from './catalogue/servers.ts'
import type { ModelQuirk } from './core/model.ts'
import type { Engine } from './engine.ts'
import type { Foundation } from './foundation.ts'
import type { ListedAgent } from './mcp/hub-tools/deps.ts'
import type { HubStatus } from './mcp/hub-tools/status.ts'
import { toShownUrl } from './model/ask-json.ts'
import { threadsAwaitingApproval } from './store/approvals.ts'
import { countOpenDeadLetters, failedThreads } from './store/dead-letters.ts'
import { waitingCounts } from './store/inbox.ts'
import { laterThreads, parkedThreads } from './store/parked.ts'
import { mainThreadId } from './store/threads.ts'

/** Returns the hub's state for `hub_status` and the command line. */
export async function readStatus(
  foundation: Foundation,
  engine: Engine,
  asked: { health?: boolean | undefined },
): Promise<HubStatus> {
  const { config, model, namedModels, compactionModel, store, clock, startedAt, version, agents } = foundation
  const waiting = await waitingCounts(store.db)
  const provider = config.current.model?.default
  const models = [model, ...namedModels.values(), ...(compactionModel ? [compactionModel] : [])]
  const quirks = distinct(models.flatMap(({ health }) => health?.quirks() ?? []))
  return {
    hub: {
      name: 'superbloom',
      version,
      startedAt,
      uptimeMs: clock.now() - startedAt,
      configFile: config.file,
    },
    model: {
      kind: provider?.provider ?? 'commands',
      name: model.name,
      ...(provider ? { baseUrl: toShownUrl(provider.baseUrl) } : {}),
      health: distinct(models.flatMap(({ health }) => health?.providers() ?? [])),
      quirks,
      parked: (await parkedThreads(store.db)).length,
    },
    deadLetters: { open: await countOpenDeadLetters(store.db) },
    ...(engine.crashGuard.hold ? { held: engine.crashGuard.hold } : {}),
    serversDown: [...engine.serversWatch.down].map(([name, since]) => ({ name, since })),
    servers: await readServers(engine.serverTools.servers, quirks, asked.health === true),
    queues: { waiting: waiting.reduce((sum, { count }) => sum + count, 0), busy: engine.runtime.busy },
    budgets: await readBudgets(foundation),
    store: { kind: 'sqlite', bytes: storeBytes(config.current.dataFolder) },
    problems: [
      ...[store.findProblem()].filter(problem => problem !== undefined),
      ...config.problems,
      ...agents.problems,
      ...agents.all.flatMap(agent => engine.runtime.problemOf(agent) ?? []),
    ],
  }
}

/** Returns the distinct values: named models repeat the shared fallbacks. */
function distinct<Value>(values: readonly Value[]): Value[] {
  return [...new Map(values.map(value => [JSON.stringify(value), value])).values()]
}

async function readServers(
  servers: Servers,
  quirks: readonly ModelQuirk[],
  withHealth: boolean,
): Promise<HubStatus['servers']> {
  const upstreams = withHealth ? await servers.health() : undefined
  return servers.status().map(server => {
    const behind = upstreams?.get(server.name)
    const refused = refusedOf(servers, server.name, quirks)
    return {
      ...server,
      ...(refused.length > 0 ? { leftOut: [...(server.leftOut ?? []), ...refused] } : {}),
      ...(behind === undefined ? {} : { upstreams: behind }),
    }
  })
}

/** Returns the tools of a server that a model does not take, with the model. */
function refusedOf(servers: Servers, server: string, quirks: readonly ModelQuirk[]): string[] {
  return quirks.flatMap(({ model, tools = [] }) =>
    tools
      .filter(name => servers.catalogue.tool(name)?.server === server)
      .map(name => `${name}: the model ${model} refuses it`),
  )
}

/** Returns the bytes of the store on the disk, including its log. */
function storeBytes(folder: string): number {
  const file = join(folder, 'superbloom.db')
  const sizes = [file, `${file}-wal`].map(path => statSync(path, { throwIfNoEntry: false })?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Lists all agents with their present status, retired ones last. */
export async function listAgents(foundation: Foundation, engine: Engine): Promise<ListedAgent[]> {
  const { store, clock } = foundation
  const { db } = store
  const failed = await failedThreads(db)
  const later = new Set([...(await parkedThreads(db)), ...(await laterThreads(db, clock.now()))])
  const awaiting = await threadsAwaitingApproval(db)
  const statusOf = (thread: string): AgentStatus => {
    if (engine.crashGuard.hold) return 'waiting'
    if (engine.runtime.isActive(thread)) return 'active'
    if (later.has(thread) || awaiting.has(thread)) return 'waiting'
    return failed.has(thread) ? 'failed' : 'sleeping'
  }
  const present = foundation.agents.all.map(({ name, description, conversations }) => ({
    name,
    description,
    conversations,
    status: statusOf(mainThreadId(name)),
  }))
  const gone = engine.retired.map(name => ({
    name,
    description: 'retired: its file is gone',
    conversations: [],
    status: 'retired' as const,
  }))
  return [...present, ...gone]
}
