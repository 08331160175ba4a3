import type { Kysely } from 'kysely'
import type { NotifiedOf } from '../../schemas/notify.ts'
import type { NotificationRow, NotificationState, Tables } from './tables.ts'
import type { Tx } from './writer.ts'

/** Adds a notification that is due at once. */
export async function addNotification(tx: Tx, id: string, about: NotifiedOf, at: number): Promise<void> {
  const row = { id, about, state: 'due' as const, attempts: 0, due_at: at, created_at: at }
  const again = { state: row.state, attempts: 0, due_at: at, created_at: at }
  // A conversation that was deleted counts its messages from 1 again.
  await tx
    .insertInto('notifications')
    .values(row)
    .onConflict(conflict => conflict.column('id').doUpdateSet(again))
    .execute()
}

/** Makes due again what was sent, or tried, of approvals that are decided now, so that it is told what became of them. */
export async function renewNotifications(tx: Tx, approvals: readonly string[], at: number): Promise<void> {
  if (approvals.length === 0) return
  await tx
    .updateTable('notifications')
    .set({ attempts: 0, due_at: at })
    .where('id', 'in', approvals)
    .where('state', 'in', ['sent', 'failed'])
    .execute()
}

/** Returns the notification that is due first, also one whose time is yet to come. */
export function firstNotification(db: Kysely<Tables>): Promise<NotificationRow | undefined> {
  return db
    .selectFrom('notifications')
    .selectAll()
    .where('due_at', 'is not', null)
    .orderBy('due_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
}

export async function endNotification(
  tx: Tx,
  id: string,
  state: Exclude<NotificationState, 'due'>,
): Promise<void> {
  await tx.updateTable('notifications').set({ state, due_at: null }).where('id', '=', id).execute()
}

/** Records the number of tries and the time of the next one. */
export async function postponeNotification(
  tx: Tx,
  id: string,
  next: Pick<NotificationRow, 'attempts' | 'due_at'>,
): Promise<void> {
  await tx.updateTable('notifications').set(next).where('id', '=', id).execute()
}

/** Adds a key that answers an approval until that is decided; earlier ones go on to work. */
export async function addApprovalKey(
  tx: Tx,
  { hash, approval, at }: { hash: string; approval: string; at: number },
): Promise<void> {
  await tx.insertInto('approval_keys').values({ hash, approval_id: approval, created_at: at }).execute()
}

/** Deletes the keys of an approval that was decided. */
export async function deleteApprovalKeys(tx: Tx, approval: string): Promise<void> {
  await tx.deleteFrom('approval_keys').where('approval_id', '=', approval).execute()
}

/** Returns the id of the open approval that a key answers; undefined if there is none. */
export async function approvalOfKey(
  db: Kysely<Tables>,
  hash: string,
  now: number,
): Promise<string | undefined> {
  const found = await db
    .selectFrom('approval_keys')
    .innerJoin('approvals', 'approvals.id', 'approval_keys.approval_id')
    .select('approvals.id')
    .where('approval_keys.hash', '=', hash)
    .where('approvals.status', '=', 'open')
    .where('approvals.expires_at', '>', now)
    .executeTakeFirst()
  return found?.id
}
