import { type Kysely, sql } from 'kysely'
import type { Tables, UsageDay } from './tables.ts'
import type { Tx } from './writer.ts'

/** Adds to what an agent used on a day. */
export async function addUsage(tx: Tx, usage: UsageDay): Promise<void> {
  await sql`
    insert into usage_days (day, agent, tokens, cost_micros, wakes)
    values (${usage.day}, ${usage.agent}, ${usage.tokens}, ${usage.cost_micros}, ${usage.wakes})
    on conflict (day, agent) do update set
      tokens = usage_days.tokens + excluded.tokens,
      cost_micros = usage_days.cost_micros + excluded.cost_micros,
      wakes = usage_days.wakes + excluded.wakes`.execute(tx)
}

/** Returns what every agent used on a day. */
export function usageOfDay(db: Kysely<Tables>, day: string): Promise<UsageDay[]> {
  return db.selectFrom('usage_days').selectAll().where('day', '=', day).orderBy('agent').execute()
}

/** Returns what every agent used from a day on, the newest day first. */
export function usageSince(db: Kysely<Tables>, day: string): Promise<UsageDay[]> {
  const rows = db.selectFrom('usage_days').selectAll().where('day', '>=', day)
  return rows.orderBy('day', 'desc').orderBy('agent').execute()
}
