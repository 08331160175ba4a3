import type { Kysely } from 'kysely'
import type { ServerLoginRow } from './door-tables.ts'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

export function readServerLogins(db: Kysely<Tables>): Promise<ServerLoginRow[]> {
  return db.selectFrom('server_logins').selectAll().execute()
}

/** Saves the login at a server in place of any earlier one. Secret: for `writeSecret` of the store. */
export async function saveServerLogin(tx: Tx, row: ServerLoginRow): Promise<void> {
  await tx
    .insertInto('server_logins')
    .values(row)
    .onConflict(conflict => conflict.column('server').doUpdateSet(row))
    .execute()
}

/** Deletes the login at a server. Secret: for `writeSecret` of the store. */
export async function deleteServerLogin(tx: Tx, server: string): Promise<void> {
  await tx.deleteFrom('server_logins').where('server', '=', server).execute()
}
