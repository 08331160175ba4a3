import type { Kysely } from 'kysely'
import type { PushRow } from './door-tables.ts'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

/** Lists the browsers whose sessions are the owner's and have not ended, the oldest first. */
export function listPushSubscriptions(db: Kysely<Tables>, now: number): Promise<PushRow[]> {
  return db
    .selectFrom('push_subscriptions')
    .innerJoin('tokens', 'tokens.id', 'push_subscriptions.token_id')
    .selectAll('push_subscriptions')
    .where('tokens.role', '=', 'owner')
    .where('tokens.ended_at', 'is', null)
    .where(eb => eb.or([eb('tokens.expires_at', 'is', null), eb('tokens.expires_at', '>', now)]))
    .orderBy('push_subscriptions.created_at')
    .orderBy('token_id')
    .execute()
}

/**
 * Adds the browser of a session, in place of what session and browser had. Returns false if the token is no
 * session's.
 */
export async function savePushSubscription(tx: Tx, row: PushRow): Promise<boolean> {
  const session = await tx
    .selectFrom('tokens')
    .select('id')
    .where('id', '=', row.token_id)
    .where('kind', '=', 'session')
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  if (!session) return false
  await tx
    .deleteFrom('push_subscriptions')
    .where(eb => eb.or([eb('token_id', '=', row.token_id), eb('endpoint', '=', row.endpoint)]))
    .execute()
  await tx.insertInto('push_subscriptions').values(row).execute()
  return true
}

export async function deletePushSubscription(tx: Tx, token: string): Promise<void> {
  await tx.deleteFrom('push_subscriptions').where('token_id', '=', token).execute()
}
