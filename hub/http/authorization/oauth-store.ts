import type { JWK } from 'jose'
import { type AdapterFactory, errors } from 'oidc-provider'
import { z } from 'zod'
import type { Clock } from '../../core/clock.ts'
import { parseJson } from '../../core/json.ts'
import type { OAuthRow } from '../../store/door-tables.ts'
import {
  consumeOAuth,
  deleteOAuth,
  deleteRelatedOAuth,
  dropOldestOAuth,
  keepOAuth,
  readOAuth,
  saveOAuth,
} from '../../store/oauth.ts'
import type { Store } from '../../store/open.ts'
import { digest } from '../doors.ts'
import type { Tokens } from '../tokens.ts'

export interface OAuthStoreDeps {
  store: Store
  clock: Clock
  tokens: Pick<Tokens, 'endGrant'>
}

const DAY = 86_400_000
/** Milliseconds after which anything expires, also what a stranger wants to count for ever. */
const LONGEST = 366 * DAY
const CLIENT = 'Client'
const REFRESH = 'RefreshToken'
/** Rows of each kind that strangers can make without anybody's yes; beyond that the oldest go. */
const MOST: ReadonlyMap<string, number> = new Map([
  [CLIENT, 1_000],
  ['Interaction', 1_000],
  // Signed requests of clients that were seen; each counts as long as its signature says.
  ['ReplayDetection', 1_000],
])
/**
 * Milliseconds for which a refresh token that was used works again: processes that share it refresh at once,
 * and an answer can get lost.
 */
const AGAIN_MS = 60_000

const payload = z.record(z.string(), z.unknown())

/** Creates what oidc-provider keeps its models in. Of a secret id only the hash is stored. */
export function createAdapter({ store, clock, tokens }: OAuthStoreDeps): AdapterFactory {
  return kind => {
    const keyOf = (id: string, of = kind) => ({ kind: of, hash: digest(id).toString('hex') })
    const { db, write } = store
    const most = MOST.get(kind)
    /** Rows that may be added before they are counted again. */
    let room = 0
    return {
      async upsert(id, { jti: _, ...given }, expiresIn) {
        const now = clock.now()
        // A client is kept a day, and then as long as somebody uses what it was allowed.
        const lasts = kind === CLIENT || expiresIn === undefined ? DAY : Math.ceil(expiresIn * 1_000)
        const row = {
          ...keyOf(id),
          related: given.grantId ?? given.uid ?? null,
          payload_json: JSON.stringify(given),
          consumed_at: null,
          expires_at: now + Math.min(lasts, LONGEST),
        }
        await write(async tx => {
          if (most !== undefined && room <= 0)
            room = await dropOldestOAuth(tx, { kind, most, until: row.expires_at })
          room--
          await saveOAuth(tx, row, now)
          if (kind === REFRESH && given.clientId !== undefined)
            await keepOAuth(tx, keyOf(given.clientId, CLIENT), row.expires_at + DAY)
        })
      },
      async find(id) {
        const row = await readOAuth(db, keyOf(id), clock.now())
        if (!row) return undefined
        const isAgain = kind === REFRESH && clock.now() - (row.consumed_at ?? 0) < AGAIN_MS
        return {
          ...toPayload(isAgain ? { ...row, consumed_at: null } : row),
          ...(kind === CLIENT ? {} : { jti: id }),
        }
      },
      async consume(id) {
        // When two requests use it at once, one of them is told that it is used up.
        const isFirst = await write(tx => consumeOAuth(tx, keyOf(id), clock.now()))
        if (!isFirst && kind !== REFRESH) throw new errors.InvalidGrant('it was used before')
      },
      async destroy(id) {
        await write(tx => deleteOAuth(tx, keyOf(id)))
        if (kind === 'Grant') await tokens.endGrant(id)
      },
      revokeByGrantId: grant => write(tx => deleteRelatedOAuth(tx, kind, grant)),
      async findByUid(related) {
        const row = await readOAuth(db, { kind, related }, clock.now())
        return row && toPayload(row)
      },
      // Only sign-in with a code that people type looks anything up by this, and it is off.
      findByUserCode: async () => undefined,
    }
  }
}

function toPayload({ payload_json, consumed_at }: OAuthRow) {
  return {
    ...payload.parse(parseJson(payload_json)),
    ...(consumed_at === null ? {} : { consumed: consumed_at }),
  }
}

interface Keys {
  jwks: JWK[]
  /** Keys by which cookies are signed. */
  cookies: string[]
}

const keys = z.object({ jwks: z.array(z.looseObject({ kty: z.string() })), cookies: z.array(z.string()) })

/** Returns the keys of the hub's issuer, which the first use makes. */
export async function readOrMakeKeys(
  { store, clock }: Pick<OAuthStoreDeps, 'store' | 'clock'>,
  make: () => Promise<Keys>,
): Promise<Keys> {
  const key = { kind: 'Keys', hash: '' }
  const row = await readOAuth(store.db, key, clock.now())
  if (row) return keys.parse(parseJson(row.payload_json))
  const made = await make()
  const none = { related: null, consumed_at: null, expires_at: null }
  await store.write(tx => saveOAuth(tx, { ...key, ...none, payload_json: JSON.stringify(made) }, clock.now()))
  return made
}
