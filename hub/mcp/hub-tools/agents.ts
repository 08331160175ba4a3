import { z } from 'zod'
import { type AgentView, agentList } from '../../../schemas/hub-lists.ts'
import { dayOf } from '../../core/clock.ts'
import { toLine } from '../../core/text.ts'
import { readAgentFigures } from '../../store/agent-figures.ts'
import { usageOfDay } from '../../store/usage.ts'
import { type HubToolReads, seenAgents } from './deps.ts'
import { defineHubTool } from './hub-tool.ts'

export const listAgents = defineHubTool({
  name: 'hub_list_agents',
  title: 'List agents',
  description: 'The agents of the hub, what each is for, and what it is doing.',
  input: z.strictObject({}),
  output: agentList,
  effect: 'reads',
  right: 'look',
  run: async (_args, { deps, principal }) => ({
    agents: await readAgents({ ...deps, agents: () => seenAgents(deps, principal) }),
  }),
  toText: ({ agents }) =>
    agents.map(one => toLine(`${one.name} (${one.status}): ${one.description}`)).join('\n') || 'No agents.',
})

/** Reads all agents with what they do now and what they used today, retired ones last. */
export async function readAgents(deps: HubToolReads): Promise<AgentView[]> {
  const { db } = deps.store
  const figures = await readAgentFigures(db)
  const today = await usageOfDay(db, dayOf(deps.clock.now(), deps.timezone))
  const usage = new Map(today.map(used => [used.agent, used]))
  return (await deps.agents()).map(({ name, description, status, shared, conversations }) => ({
    name,
    description,
    status,
    shared,
    conversations: [...conversations],
    ...(figures.get(name) ?? NONE),
    tokensToday: usage.get(name)?.tokens ?? 0,
    moneyToday: (usage.get(name)?.cost_micros ?? 0) / 1_000_000,
  }))
}

const NONE = { threads: 0, pending: 0, cycles: 0, lastCycleAt: null, windowTokens: 0 }
