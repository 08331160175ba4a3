import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentStatus } from '../schemas/chat.ts'
import type { Engine } from './engine.ts'
import type { Foundation } from './foundation.ts'
import type { ListedAgent } from './mcp/hub-tools/deps.ts'
import type { HubStatus } from './mcp/hub-tools/status.ts'
import { threadsAwaitingApproval } from './store/approvals.ts'
import { waitingCounts } from './store/inbox.ts'
import { mainThreadId } from './store/threads.ts'

/** The state of everything, for `hub_status` and the command line. */
export async function readStatus(foundation: Foundation, engine: Engine): Promise<HubStatus> {
  const { config, model, store, clock, startedAt, version, agents } = foundation
  const waiting = await waitingCounts(store.db)
  const provider = config.current.model?.default
  return {
    hub: { name: 'superbloom', version, startedAt, uptimeMs: clock.now() - startedAt },
    model: {
      kind: provider ? 'openai' : 'rules',
      name: model.name,
      ...(provider ? { baseUrl: provider.baseUrl } : {}),
    },
    servers: engine.serverTools.servers.status(),
    queues: { waiting: waiting.reduce((sum, { count }) => sum + count, 0), busy: engine.runtime.busy },
    store: { kind: 'sqlite', bytes: statSync(join(config.current.dataFolder, 'superbloom.db')).size },
    problems: [...config.problems, ...agents.problems],
  }
}

/** All agents with what they do now, retired ones last. */
export async function listAgents(foundation: Foundation, engine: Engine): Promise<ListedAgent[]> {
  const waiting = await threadsAwaitingApproval(foundation.store.db)
  const present = foundation.agents.all.map(({ name, description, conversations }) => ({
    name,
    description,
    conversations,
    status: toAgentStatus(engine, waiting, mainThreadId(name)),
  }))
  const gone = engine.retired.map(name => ({
    name,
    description: 'retired: its file is gone',
    conversations: [],
    status: 'retired' as const,
  }))
  return [...present, ...gone]
}

function toAgentStatus(engine: Engine, waiting: ReadonlySet<string>, thread: string): AgentStatus {
  if (engine.runtime.isActive(thread)) return 'active'
  return waiting.has(thread) ? 'waiting' : 'sleeping'
}
