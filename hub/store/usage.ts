import type { Kysely } from 'kysely'
import type { Tables, UsageDay } from './tables.ts'
import type { Tx } from './writer.ts'

/** Adds to what an agent used on a day. */
export async function addUsage(tx: Tx, usage: UsageDay): Promise<void> {
  await tx
    .insertInto('usage_days')
    .values(usage)
    .onConflict(oc =>
      oc.columns(['day', 'agent']).doUpdateSet(eb => ({
        tokens: eb('usage_days.tokens', '+', eb.ref('excluded.tokens')),
        cost_micros: eb('usage_days.cost_micros', '+', eb.ref('excluded.cost_micros')),
        wakes: eb('usage_days.wakes', '+', eb.ref('excluded.wakes')),
      })),
    )
    .execute()
}

/** Returns what every agent used on a day. */
export function usageOfDay(db: Kysely<Tables>, day: string): Promise<UsageDay[]> {
  return db.selectFrom('usage_days').selectAll().where('day', '=', day).orderBy('agent').execute()
}
