import { budgetOf } from './config/budget.ts'
import { dayOf } from './core/clock.ts'
import type { Foundation } from './foundation.ts'
import type { Budgets } from './mcp/hub-tools/status.ts'
import type { UsageDay } from './store/tables.ts'
import { usageOfDay } from './store/usage.ts'

/** Returns what today used of the daily limits, for `hub_status`. */
export async function readBudgets({ config, store, clock, agents }: Foundation): Promise<Budgets> {
  const { currency, tokensPerDay, moneyPerDay } = budgetOf(config.current)
  const day = dayOf(clock.now(), config.current.timezone)
  const rows = await usageOfDay(store.db, day)
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
    agents: agents.all.map(({ name, limits }) => ({
      name,
      tokens: toUsed(byAgent.get(name)?.tokens ?? 0, limits.tokensPerDay),
      money: toUsed((byAgent.get(name)?.cost_micros ?? 0) / 1_000_000, limits.moneyPerDay),
      wakes: toUsed(byAgent.get(name)?.wakes ?? 0, limits.wakesPerDay),
    })),
  }
}

function toUsed(used: number, limit: number | undefined): { used: number; limit?: number } {
  return limit === undefined ? { used } : { used, limit }
}
