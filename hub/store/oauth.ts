import type { Kysely } from 'kysely'
import type { OAuthRow } from './door-tables.ts'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

type Key = Pick<OAuthRow, 'kind' | 'hash'>

/** Returns a row that has not expired, by its id or by what it belongs to. */
export function readOAuth(
  db: Kysely<Tables>,
  { kind, ...by }: Key | { kind: string; related: string },
  now: number,
): Promise<OAuthRow | undefined> {
  return db
    .selectFrom('oauth')
    .selectAll()
    .where('kind', '=', kind)
    .where(each => ('hash' in by ? each('hash', '=', by.hash) : each('related', '=', by.related)))
    .where(each => each.or([each('expires_at', 'is', null), each('expires_at', '>', now)]))
    .executeTakeFirst()
}

/** Adds or replaces a row, and deletes what has expired. */
export async function saveOAuth(tx: Tx, row: OAuthRow, now: number): Promise<void> {
  await tx.deleteFrom('oauth').where('expires_at', '<=', now).execute()
  await tx
    .insertInto('oauth')
    .values(row)
    .onConflict(conflict => conflict.columns(['kind', 'hash']).doUpdateSet(row))
    .execute()
}

/** Lets a row live until a time. */
export async function keepOAuth(tx: Tx, { kind, hash }: Key, expires_at: number): Promise<void> {
  await tx
    .updateTable('oauth')
    .set({ expires_at })
    .where('kind', '=', kind)
    .where('hash', '=', hash)
    .execute()
}

/** Marks a row as used; false if it was used before, or is gone. */
export async function consumeOAuth(tx: Tx, { kind, hash }: Key, now: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('oauth')
    .set({ consumed_at: now })
    .where('kind', '=', kind)
    .where('hash', '=', hash)
    .where('consumed_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function deleteOAuth(tx: Tx, { kind, hash }: Key): Promise<void> {
  await tx.deleteFrom('oauth').where('kind', '=', kind).where('hash', '=', hash).execute()
}

/** Deletes everything of one kind that belongs to a grant. */
export async function deleteRelatedOAuth(tx: Tx, kind: string, related: string): Promise<void> {
  await tx.deleteFrom('oauth').where('related', '=', related).where('kind', '=', kind).execute()
}

/**
 * Deletes rows of a kind that expire first and by `until`, if there are `most`: a tenth, since it reads all of the
 * kind. Returns how many may be added before the next time.
 */
export async function dropOldestOAuth(
  tx: Tx,
  { kind, most, until }: { kind: string; most: number; until: number },
): Promise<number> {
  const { count } = await tx
    .selectFrom('oauth')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('kind', '=', kind)
    .executeTakeFirstOrThrow()
  if (Number(count) < most) return most - Number(count)
  const oldest = tx
    .selectFrom('oauth')
    .select('hash')
    .where('kind', '=', kind)
    .where('expires_at', '<=', until)
    .orderBy('expires_at')
    .limit(most / 10)
  await tx.deleteFrom('oauth').where('kind', '=', kind).where('hash', 'in', oldest).execute()
  return most / 10
}
