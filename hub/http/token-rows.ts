import { randomBytes } from 'node:crypto'
import type { ListedToken, MadeToken, Role } from '../../schemas/tokens.ts'
import { globs } from '../../schemas/tool-rules.ts'
import type { Clock } from '../core/clock.ts'
import type { NewId } from '../core/ids.ts'
import type { Principal } from '../core/principal.ts'
import type { TokenRow } from '../store/door-tables.ts'
import { digest } from './doors.ts'

const SECRET_BYTES = 24

export interface TokenSource {
  clock: Clock
  newId: NewId
}

/** Makes a token, which opens nothing yet. */
export function makeToken(
  { clock, newId }: TokenSource,
  asked: {
    kind: ListedToken['kind']
    name: string
    role: Role
    tools?: readonly string[] | undefined
    /** Milliseconds; undefined for ever. */
    lasts?: number | undefined
    secret?: string
  },
): MadeToken & { row: TokenRow } {
  const {
    kind,
    name,
    role,
    tools,
    lasts,
    secret = `sb_${randomBytes(SECRET_BYTES).toString('base64url')}`,
  } = asked
  const now = clock.now()
  const row = {
    id: newId(PREFIXES[kind]),
    name,
    role,
    kind,
    tools_json: tools === undefined ? null : JSON.stringify(tools),
    hash: toHash(secret),
    created_at: now,
    expires_at: lasts === undefined ? null : now + lasts,
    last_used_at: null,
    ended_at: null,
  }
  return { id: row.id, secret, expiresAt: row.expires_at ?? undefined, row }
}

export function toHash(secret: string): string {
  return digest(secret).toString('hex')
}

/** Tells whether a token is no person's. */
export function isProgram({ kind }: TokenRow): boolean {
  return kind === 'token' || kind === 'grant'
}

const PREFIXES: Record<ListedToken['kind'], string> = {
  token: 'tok',
  session: 'ses',
  link: 'lnk',
  grant: 'grt',
}

export function toPrincipal({ id, name, role, tools_json }: TokenRow): Principal & { tools?: string[] } {
  return { id, name, role, ...(tools_json === null ? {} : { tools: globs.parse(JSON.parse(tools_json)) }) }
}

export function toListed(row: TokenRow): ListedToken {
  const { kind, created_at, expires_at, last_used_at } = row
  return {
    ...toPrincipal(row),
    kind,
    createdAt: created_at,
    ...(expires_at === null ? {} : { expiresAt: expires_at }),
    ...(last_used_at === null ? {} : { lastUsedAt: last_used_at }),
  }
}
