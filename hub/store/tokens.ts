import type { Kysely } from 'kysely'
import type { PersonRow, Tables, TokenRow } from './tables.ts'
import type { Tx } from './writer.ts'

/** Returns the tokens that nobody ended, expired ones too. */
export function readTokens(db: Kysely<Tables>): Promise<TokenRow[]> {
  return db.selectFrom('tokens').selectAll().where('ended_at', 'is', null).orderBy('id').execute()
}

export async function addToken(tx: Tx, row: TokenRow): Promise<void> {
  await tx.insertInto('tokens').values(row).execute()
}

/** Ends a token; false if it was ended before. */
export async function endToken(tx: Tx, id: string, now: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('tokens')
    .set({ ended_at: now })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function markUsed(
  tx: Tx,
  { id, last_used_at, expires_at }: Pick<TokenRow, 'id' | 'last_used_at' | 'expires_at'>,
): Promise<void> {
  await tx.updateTable('tokens').set({ last_used_at, expires_at }).where('id', '=', id).execute()
}

export function readPeople(db: Kysely<Tables>): Promise<PersonRow[]> {
  return db.selectFrom('people').selectAll().orderBy('name').execute()
}

/** Adds a person, or gives the one of this name another role. */
export async function savePerson(tx: Tx, row: PersonRow): Promise<void> {
  await tx
    .insertInto('people')
    .values(row)
    .onConflict(conflict => conflict.column('name').doUpdateSet({ role: row.role }))
    .execute()
}

/** Deletes a person; false if there is none. */
export async function deletePerson(tx: Tx, name: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('people').where('name', '=', name).executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
