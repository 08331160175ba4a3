import { z } from 'zod'
import { dayOf } from '../../core/clock.ts'
import { cycleTotals } from '../../store/cycles.ts'
import { waitingCounts } from '../../store/inbox.ts'
import { listThreads } from '../../store/threads.ts'
import { usageOfDay } from '../../store/usage.ts'
import type { HubToolDeps } from './deps.ts'
import { defineHubTool, type HubTool } from './hub-tool.ts'

const agent = z.object({
  name: z.string(),
  description: z.string(),
  status: z.enum(['sleeping', 'active', 'waiting', 'failed', 'retired']),
  conversations: z.array(z.string()),
  threads: z.int(),
  pending: z.int().describe('items in its inbox'),
  cycles: z.int(),
  lastCycleAt: z.number().nullable().describe('unix milliseconds'),
  tokensToday: z.int(),
  moneyToday: z.number().describe("in the prices' currency; 0 without prices"),
})

export function listAgents(deps: HubToolDeps): HubTool {
  return defineHubTool({
    name: 'hub_list_agents',
    title: 'List agents',
    description: 'The agents of the hub, what each is for, and what it is doing.',
    input: z.strictObject({}),
    output: z.object({ agents: z.array(agent) }),
    effect: 'reads',
    run: async () => ({ agents: await readAgents(deps) }),
    toText: ({ agents }) =>
      agents.map(one => `${one.name} (${one.status}): ${one.description}`).join('\n') || 'No agents.',
  })
}

async function readAgents(deps: HubToolDeps): Promise<z.infer<typeof agent>[]> {
  const { db } = deps.store
  const threads = await listThreads(db)
  const waiting = new Map((await waitingCounts(db)).map(({ thread, count }) => [thread, count]))
  const totals = new Map((await cycleTotals(db)).map(total => [total.thread, total]))
  const today = await usageOfDay(db, dayOf(deps.clock.now(), deps.timezone))
  const usage = new Map(today.map(used => [used.agent, used]))
  return (await deps.agents()).map(one => {
    const own = threads.filter(thread => thread.agent === one.name).map(thread => thread.id)
    const sum = (of: (id: string) => number | undefined) =>
      own.reduce((total, id) => total + (of(id) ?? 0), 0)
    const last = Math.max(0, ...own.map(id => totals.get(id)?.lastAt ?? 0))
    return {
      name: one.name,
      description: one.description,
      status: one.status,
      conversations: [...one.conversations],
      threads: own.length,
      pending: sum(id => waiting.get(id)),
      cycles: sum(id => totals.get(id)?.cycles),
      lastCycleAt: last || null,
      tokensToday: usage.get(one.name)?.tokens ?? 0,
      moneyToday: (usage.get(one.name)?.cost_micros ?? 0) / 1_000_000,
    }
  })
}
