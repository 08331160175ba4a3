import type { Kysely } from 'kysely'
import { OWNER } from '../../schemas/tokens.ts'
import type { TokenRow } from '../store/door-tables.ts'
import { readOwnerSecrets } from '../store/hub-state.ts'
import type { Tables } from '../store/tables.ts'
import { makeToken, type TokenSource, toHash } from './token-rows.ts'

/** The owner's token of this hub. */
export interface OwnerToken {
  secret: string
  /** Makes another secret and returns it; undefined where the environment says which it is. */
  replace: (() => string) | undefined
  /** Id of this hub among those that share the store. */
  hub: string
  /** Tells whether a hub made a secret, which then opens the others too. */
  isMade: (secret: string) => boolean
}

/**
 * Returns the secret of this hub, another one if it was revoked, and rows of the owner's tokens that the other hubs
 * on the store made.
 */
export async function readOwnerTokens(
  db: Kysely<Tables>,
  { secret, replace, hub }: OwnerToken,
  source: TokenSource,
): Promise<{ secret: string; others: TokenRow[] }> {
  const known = await readOwnerSecrets(db)
  const isRevoked = known.get(toHash(secret))?.isRevoked === true
  return {
    secret: (isRevoked ? replace?.() : undefined) ?? secret,
    others: [...known]
      .filter(([, other]) => other.hub !== hub && !other.isRevoked)
      .map(([hash, other]) => ({ ...makeOwnerRow(source, ''), id: `${OWNER}-${other.hub}`, hash })),
  }
}

/** Makes the row of this hub's token. */
export function makeOwnerRow(source: TokenSource, secret: string): TokenRow {
  return { ...makeToken(source, { kind: 'token', name: OWNER, role: OWNER, secret }).row, id: OWNER }
}

/** Tells whether it is the owner's token of a hub: nothing else that is a token may be called owner. */
export function isOwnersToken({ kind, name }: TokenRow): boolean {
  return kind === 'token' && name === OWNER
}
