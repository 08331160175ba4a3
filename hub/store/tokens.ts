import type { Kysely } from 'kysely'
import { record } from './audit-log.ts'
import type { PersonRow, TokenRow } from './door-tables.ts'
import {
  readOwnerMark,
  readOwnerSecrets,
  readStates,
  removeOwnerSecret,
  removeState,
  saveOwnerMark,
  saveOwnerSecret,
  saveState,
} from './hub-state.ts'
import type { Store } from './open.ts'
import { deletePushSubscription } from './push-subscriptions.ts'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

/** Returns the tokens that nobody ended, expired ones too. */
export function readTokens(db: Kysely<Tables>): Promise<TokenRow[]> {
  return db.selectFrom('tokens').selectAll().where('ended_at', 'is', null).orderBy('id').execute()
}

export interface TokenChange {
  /** Name of whoever changes it. */
  by: string
  /** The token that a sign-in came with. */
  from?: TokenRow
  ending: readonly TokenRow[]
  made?: readonly TokenRow[]
}

/** Ends some tokens and adds others. */
export async function changeTokens(
  tx: Tx,
  { by, from, ending, made = [] }: TokenChange,
  at: number,
): Promise<void> {
  const told = ({ id, name, role, kind }: TokenRow, outcome: string) => ({
    at,
    kind: from ? ('sign_in' as const) : ('token' as const),
    actor: by,
    outcome,
    details: { id, name, role, is: kind, ...(from && { from: from.id }) },
  })
  for (const { id } of ending) await endToken(tx, id, at)
  for (const row of made) await tx.insertInto('tokens').values(row).execute()
  await record(tx, ...ending.map(row => told(row, 'revoked')), ...made.map(row => told(row, 'created')))
}

/** Characters of the hash that tell the owner's token from another one: too few to look for the token with. */
const MARK_LENGTH = 4

export interface OwnerRecord {
  /** Id of the hub whose token it is. */
  hub: string
  /** Whether it is to open the other hubs on the store too. */
  isShared: boolean
  by: string
  at: number
}

/**
 * Records the owner's token of a hub: it takes the place of what that hub recorded before, and the audit tells if it
 * is another one.
 */
export async function recordOwnerToken(
  { db, write }: Pick<Store, 'db' | 'write'>,
  { id, name, hash }: TokenRow,
  { hub, isShared, by, at }: OwnerRecord,
): Promise<void> {
  const mark = hash.slice(0, MARK_LENGTH)
  const before = await readOwnerMark(db, hub)
  const secrets = await readOwnerSecrets(db)
  const stale = [...secrets].filter(
    ([each, secret]) => secret.hub === hub && !secret.isRevoked && (each !== hash || !isShared),
  )
  if (mark === before && stale.length === 0 && (!isShared || secrets.has(hash))) return
  const row = { at, kind: 'token', actor: by, outcome: 'replaced', details: { id, name } } as const
  await write(async tx => {
    await saveOwnerMark(tx, hub, mark)
    for (const [each] of stale) await removeOwnerSecret(tx, each)
    if (isShared) await saveOwnerSecret(tx, hash, { hub, isRevoked: false })
    if (before !== undefined && before !== mark) await record(tx, row)
  })
}

/** Revokes the owner's secrets of all hubs: each makes another one when it next starts. */
export async function revokeOwnerSecrets(tx: Tx): Promise<void> {
  for (const [hash, { hub }] of await readOwnerSecrets(tx))
    await saveOwnerSecret(tx, hash, { hub, isRevoked: true })
}

/** Ends a token; false if it was ended before. */
export async function endToken(tx: Tx, id: string, now: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('tokens')
    .set({ ended_at: now })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow()
  await deletePushSubscription(tx, id)
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
export async function savePerson(tx: Tx, row: PersonRow, title: string): Promise<void> {
  await savePersonTitle(tx, row.name, title === row.name ? undefined : title)
  await tx
    .insertInto('people')
    .values(row)
    .onConflict(conflict => conflict.column('name').doUpdateSet({ role: row.role }))
    .execute()
}

/** Deletes a person; false if there is none. */
export async function deletePerson(tx: Tx, name: string): Promise<boolean> {
  await savePersonTitle(tx, name, undefined)
  const { numDeletedRows } = await tx.deleteFrom('people').where('name', '=', name).executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Returns the names of people as they were written, by their name, where that is another one. */
export async function readPersonTitles(db: Kysely<Tables>): Promise<ReadonlyMap<string, string>> {
  const states = await readStates(db, PERSON_TITLE)
  return new Map([...states].map(([name, title]) => [name, String(title)]))
}

async function savePersonTitle(tx: Tx, name: string, title: string | undefined): Promise<void> {
  if (title === undefined) await removeState(tx, `${PERSON_TITLE}${name}`)
  else await saveState(tx, `${PERSON_TITLE}${name}`, title)
}

const PERSON_TITLE = 'person_title '
