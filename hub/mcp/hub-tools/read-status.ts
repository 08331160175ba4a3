import type { AgentStatus } from '../../../schemas/chat.ts'
import type { UpstreamHealth } from '../../../schemas/health.ts'
import type { Budgets, ChangedTool, HubStatus } from '../../../schemas/hub-status.ts'
import { type Clock, dayOf } from '../../core/clock.ts'
import type { Model, ModelQuirk } from '../../core/model.ts'
import { countOpenApprovals, threadsAwaitingApproval } from '../../store/approvals.ts'
import { countOpenDeadLetters, failedThreads } from '../../store/dead-letters.ts'
import { waitingCounts } from '../../store/inbox.ts'
import type { Store } from '../../store/open.ts'
import { laterThreads, suspendedThreads } from '../../store/suspended.ts'
import type { UsageDay } from '../../store/tables.ts'
import { agentOfThread, mainThreadId } from '../../store/threads.ts'
import { usageSince } from '../../store/usage.ts'
import type { ListedAgent } from './deps.ts'

interface DailyLimits {
  tokensPerDay?: number | undefined
  moneyPerDay?: number | undefined
}

/** The facts of a status that do not come from the store. */
export interface StatusFacts extends Pick<HubStatus, 'held' | 'problems'> {
  version: string
  startedAt: number
  configFile: string
  timezone: string
  model: Pick<HubStatus['model'], 'kind' | 'baseUrl'>
  /** All models, the default one first. */
  models: readonly [Model, ...Model[]]
  serversDown: ReadonlyMap<string, number>
  servers: {
    status(): HubStatus['servers']
    health(): Promise<ReadonlyMap<string, UpstreamHealth[]>>
    readonly catalogue: { tool(name: string): { server: string } | undefined }
  }
  /** Returns the names of a server's tools that changed, which nobody accepted yet. */
  changedTools: (server: string) => ChangedTool[]
  busy: number
  budget: DailyLimits & { currency?: string | undefined }
  agents: readonly { name: string; limits: DailyLimits & { wakesPerDay?: number | undefined } }[]
}

export async function readStatus(
  { store, clock }: { store: Store; clock: Clock },
  facts: StatusFacts,
  asked: { health?: boolean | undefined },
): Promise<HubStatus> {
  const { version, startedAt, configFile, models, held, serversDown, busy, problems } = facts
  const waiting = await waitingCounts(store.db)
  const ofAgents = Map.groupBy(waiting, ({ thread }) => agentOfThread(thread))
  const quirks = distinct(models.flatMap(({ health }) => health?.quirks() ?? []))
  const fault = store.findProblem()
  return {
    hub: { name: 'superbloom', version, startedAt, uptimeMs: clock.now() - startedAt, configFile },
    model: {
      ...facts.model,
      name: models[0].name,
      health: distinct(models.flatMap(({ health }) => health?.providers() ?? [])),
      quirks,
      parked: (await suspendedThreads(store.db)).length,
    },
    deadLetters: { open: await countOpenDeadLetters(store.db) },
    ...(held ? { held } : {}),
    serversDown: [...serversDown].map(([name, since]) => ({ name, since })),
    servers: await readServers(facts, quirks, asked.health === true),
    queues: {
      waiting: waiting.reduce((sum, { count }) => sum + count, 0),
      busy,
      approvals: await countOpenApprovals(store.db),
      agents: facts.agents.map(({ name }) => toQueue(name, ofAgents.get(name))),
    },
    budgets: await readBudgets(store, clock.now(), facts),
    store: await store.measure(),
    problems: fault === undefined ? problems : [fault, ...problems],
  }
}

/** Returns what waits for an agent, in its main thread and its tasks. */
function toQueue(name: string, own: Awaited<ReturnType<typeof waitingCounts>> = []) {
  const oldestAt = own.length === 0 ? {} : { oldestAt: Math.min(...own.map(({ oldest }) => oldest)) }
  return { name, waiting: own.reduce((sum, { count }) => sum + count, 0), ...oldestAt }
}

/** Milliseconds before the present day of which the use is told. */
const TOLD_BEFORE = 13 * 86_400_000

/** Returns what the present day used of the daily limits, and what the days before used. */
async function readBudgets(
  store: Store,
  now: number,
  { budget, agents, timezone }: Pick<StatusFacts, 'budget' | 'agents' | 'timezone'>,
): Promise<Budgets> {
  const { currency, tokensPerDay, moneyPerDay } = budget
  const day = dayOf(now, timezone)
  const days = Map.groupBy(await usageSince(store.db, dayOf(now - TOLD_BEFORE, timezone)), row => row.day)
  const rows = days.get(day) ?? []
  const byAgent = new Map(rows.map(row => [row.agent, row]))
  const sum = (of: (row: UsageDay) => number) => rows.reduce((total, row) => total + of(row), 0)
  return {
    day,
    ...(currency === undefined ? {} : { currency }),
    tokens: toUsed(
      sum(row => row.tokens),
      tokensPerDay,
    ),
    money: toUsed(sum(row => row.cost_micros) / 1_000_000, moneyPerDay),
    agents: agents.map(({ name, limits }) => {
      const { tokens = 0, cost_micros: micros = 0, wakes = 0 } = byAgent.get(name) ?? {}
      return {
        name,
        tokens: toUsed(tokens, limits.tokensPerDay),
        money: toUsed(micros / 1_000_000, limits.moneyPerDay),
        wakes: toUsed(wakes, limits.wakesPerDay),
      }
    }),
    days: [...days.values()].map(toUsedDay),
  }
}

/** Sums up the rows of one day. */
function toUsedDay(rows: readonly UsageDay[]): Budgets['days'][number] {
  const agents = rows.map(row => ({
    name: row.agent,
    tokens: row.tokens,
    money: row.cost_micros / 1_000_000,
  }))
  return {
    day: rows[0]?.day ?? '',
    tokens: agents.reduce((sum, { tokens }) => sum + tokens, 0),
    money: agents.reduce((sum, { money }) => sum + money, 0),
    agents,
  }
}

function toUsed(used: number, limit: number | undefined): { used: number; limit?: number } {
  return limit === undefined ? { used } : { used, limit }
}

/** Returns the distinct values: named models repeat the shared fallbacks. */
function distinct<Value>(values: readonly Value[]): Value[] {
  return [...new Map(values.map(value => [JSON.stringify(value), value])).values()]
}

async function readServers(
  { servers, changedTools }: Pick<StatusFacts, 'servers' | 'changedTools'>,
  quirks: readonly ModelQuirk[],
  withHealth: boolean,
): Promise<HubStatus['servers']> {
  const upstreams = withHealth ? await servers.health() : undefined
  return servers.status().map(server => {
    const behind = upstreams?.get(server.name)
    const isOwn = (name: string) => servers.catalogue.tool(name)?.server === server.name
    const refused = quirks.flatMap(({ model, tools = [] }) =>
      tools.filter(isOwn).map(name => `${name}: the model ${model} refuses it`),
    )
    const changed = changedTools(server.name)
    return {
      ...server,
      ...(changed.length > 0 ? { changedTools: changed } : {}),
      ...(refused.length > 0 ? { leftOut: [...(server.leftOut ?? []), ...refused] } : {}),
      ...(behind === undefined ? {} : { upstreams: behind }),
    }
  })
}

interface AgentFacts {
  /** The agents, or the one that is asked for. */
  all: readonly Omit<ListedAgent, 'status'>[]
  /** Names of agents whose files are gone. */
  retired: readonly string[]
  /** Name of the agent that is asked for; undefined for all. */
  only?: string | undefined
  /** True while no agent runs, after a crash loop. */
  isHeld: boolean
  isActive: (thread: string) => boolean
}

/** Lists all agents with their present status, retired ones last. */
export async function readAgentStates(
  { store, clock }: { store: Store; clock: Clock },
  { all, retired, only, isHeld, isActive }: AgentFacts,
): Promise<ListedAgent[]> {
  const { db } = store
  const failed = await failedThreads(db)
  const later = new Set([...(await suspendedThreads(db)), ...(await laterThreads(db, clock.now()))])
  const awaiting = await threadsAwaitingApproval(db)
  const statusOf = (thread: string): AgentStatus => {
    if (isHeld) return 'waiting'
    if (isActive(thread)) return 'active'
    if (later.has(thread) || awaiting.has(thread)) return 'waiting'
    return failed.has(thread) ? 'failed' : 'sleeping'
  }
  const present = all.map(({ name, description, conversations, shared }) => ({
    name,
    description,
    conversations,
    shared,
    status: statusOf(mainThreadId(name)),
  }))
  const asked = only === undefined ? retired : retired.filter(name => name === only)
  const gone = asked.map(name => ({
    name,
    description: 'retired: its file is gone',
    conversations: [],
    shared: false,
    status: 'retired' as const,
  }))
  return [...present, ...gone]
}
