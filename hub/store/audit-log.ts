import { hash as digest } from 'node:crypto'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import type { AuditKind, AuditVerdict } from '../../schemas/audit.ts'
import type { Power } from '../../schemas/power.ts'
import { isSecretName } from '../../schemas/redact.ts'
import { HUB } from '../../schemas/tokens.ts'
import { toIso } from '../core/clock.ts'
import { isObject } from '../core/forwarding.ts'
import { parseJson, withoutNul } from '../core/json.ts'
import { maskSecrets } from '../core/mask-secrets.ts'
import { truncate } from '../core/text.ts'
import { hashArguments, toText } from './arguments.ts'
import type { AuditTableRow, Tables } from './tables.ts'
import type { Tx } from './writer.ts'

/** Characters of a call's arguments that are kept, and of every name. */
const LONGEST_ARGUMENTS = 500
const LONGEST_NAME = 200

/** Something that happened. No field may be a text of a conversation: that is deleted with its conversation. */
export interface AuditEntry {
  /** Unix milliseconds. */
  at: number
  kind: AuditKind
  /** Name of the token; `agent:<name>`, `hook:<name>`, or `hub` for the hub itself. */
  actor: string
  role?: string | undefined
  /** Entrance over which it came. */
  door?: string | null | undefined
  power?: Power | null | undefined
  tool?: string | undefined
  outcome: string
  /** Id of a tool call. */
  call?: string | undefined
  /** Anything else; a value whose key looks like that of a secret is masked. */
  details?: Record<string, unknown> | undefined
  /** Further details, in which the caller has masked what is secret. */
  masked?: Record<string, unknown> | undefined
}

/** Adds rows to the audit, in the transaction of what they tell of, in order. */
export async function record(tx: Tx, ...entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return
  // The update locks the chain before its end is read, so that no two rows follow the same one. Each row moves
  // the chain's last hash by itself.
  const { lock, insert } = compiledFor(tx)
  const { rows } = await tx.executeQuery<Tables['audit_chain']>({ ...lock, parameters: [entries.length] })
  let { last_seq: seq = 0, last_hash: hash = '' } = rows[0] ?? {}
  seq -= entries.length
  for (const entry of entries) {
    const row = toRow(entry, ++seq)
    hash = hashRow(hash, row)
    await tx.executeQuery({ ...insert, parameters: [...columnsOf(row), hash] })
  }
}

const compiled = new WeakMap<object, ReturnType<typeof compile>>()

/** Returns the statements of `record`, compiled once: clients' calls wait for them. */
function compiledFor(tx: Tx): ReturnType<typeof compile> {
  const { adapter } = tx.getExecutor()
  const found = compiled.get(adapter) ?? compile(tx)
  compiled.set(adapter, found)
  return found
}

function compile(tx: Tx) {
  const values = sql.join(Array.from({ length: 12 }, () => 0))
  return {
    lock: sql`update audit_chain set last_seq = last_seq + ${1} returning last_seq, last_hash`.compile(tx),
    insert: sql`insert into audit values (${values})`.compile(tx),
  }
}

/** Returns a call's arguments as people see them: without secrets, and not the whole of long ones. */
export function showArguments(args: unknown, redact: (text: string) => string): string {
  return truncate(
    redact(toText(args, value => maskTexts(maskSecrets(value, 'arguments')))),
    LONGEST_ARGUMENTS,
  )
}

/** Matches keys of secrets that are too short to look for inside the names of the config. */
const SHORT_KEY = /^(?:pwd|pin|psk|otp)$/i
/** Matches tokens whose makers gave them a shape. */
const SHAPED =
  /\b(?:sba_[\w-]{8,}|sk-[\w-]{8,}|gh[opsur]_\w{8,}|github_pat_\w{8,}|xox[a-z]-[\w-]{8,}|AKIA[A-Z0-9]{12,})/g
/** Matches `NAME=value` of a list of variables. */
const SETTING = /^([\w.-]+)=[\s\S]+$/

/** Masks what is secret in texts: known shapes, `NAME=value` with the name of a secret, and JSON in a text. */
function maskTexts(value: unknown): unknown {
  if (typeof value === 'string') return maskText(value)
  if (Array.isArray(value)) return value.map(maskTexts)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, SHORT_KEY.test(key) ? '***' : maskTexts(inner)]),
  )
}

function maskText(text: string): string {
  const json = /^\s*[[{]/.test(text) ? parseJson(text) : undefined
  if (json !== undefined) return toText(json, inner => maskTexts(maskSecrets(inner, 'arguments')))
  const name = SETTING.exec(text)?.[1]
  if (name !== undefined && (SHORT_KEY.test(name) || isSecretName(name))) return `${name}=***`
  return text.replace(SHAPED, '***')
}

function maskDetails(details: Record<string, unknown>): object {
  return Object(maskTexts(maskSecrets(details, 'details')))
}

type HashedRow = Omit<AuditTableRow, 'hash'>

function toRow(entry: AuditEntry, seq: number): HashedRow {
  const { at, kind, actor, role, door, power, tool, outcome, call, details, masked } = entry
  const name = (text: string) => truncate(withoutNul(text), LONGEST_NAME)
  return {
    seq,
    at,
    kind,
    actor: name(actor),
    role: role ?? null,
    door: door ?? null,
    power: power ?? null,
    tool: tool === undefined ? null : name(tool),
    outcome: name(outcome),
    call_id: call ?? null,
    details_json: JSON.stringify({ ...(details && maskDetails(details)), ...masked }),
  }
}

/** Returns the hash of a row that follows one with the hash `before`. */
export function hashRow(before: string, row: HashedRow): string {
  return digest('sha256', before + JSON.stringify(columnsOf(row)))
}

/** Returns the values of a row in the order of the table's columns. */
function columnsOf(row: HashedRow) {
  const { seq, at, kind, actor, role, door, power, tool, outcome, call_id, details_json } = row
  return [seq, at, kind, actor, role, door, power, tool, outcome, call_id, details_json] as const
}

export interface AuditFilter {
  since?: number | undefined
  until?: number | undefined
  kinds?: readonly AuditKind[] | undefined
  actor?: string | undefined
  tool?: string | undefined
  /** Only rows after this seq, the oldest first; otherwise the newest come first. */
  after?: number | undefined
  limit: number
}

export type ListedAuditRow = AuditTableRow & { ledger_arguments: string | null }

/** Lists rows with the arguments that the ledger holds. */
export function listAudit(db: Kysely<Tables>, filter: AuditFilter): Promise<ListedAuditRow[]> {
  const { since, until, kinds, actor, tool, after, limit } = filter
  return selectListed(db)
    .$if(since !== undefined, query => query.where('audit.at', '>=', since ?? 0))
    .$if(until !== undefined, query => query.where('audit.at', '<', until ?? 0))
    .$if(kinds !== undefined, query => query.where('audit.kind', 'in', kinds ?? []))
    .$if(actor !== undefined, query => query.where('audit.actor', '=', actor ?? ''))
    .$if(tool !== undefined, query => query.where('audit.tool', '=', tool ?? ''))
    .$if(after !== undefined, query => query.where('audit.seq', '>', after ?? 0))
    .orderBy('audit.seq', after === undefined ? 'desc' : 'asc')
    .limit(limit)
    .execute()
}

function selectListed(db: Kysely<Tables>) {
  return db
    .selectFrom('audit')
    .leftJoin('tool_calls', 'tool_calls.id', 'audit.call_id')
    .selectAll('audit')
    .select('tool_calls.arguments as ledger_arguments')
}

/** Rows that are read at once while others wait. */
const PAGE = 500

/** Checks the chain from its beginning to the end that it has now. */
export async function verifyAudit(db: Kysely<Tables>): Promise<AuditVerdict> {
  const chain = await readChain(db)
  const verdict = await verifyChain(db, chain)
  if (!verdict.broken) return verdict
  // Retention may have removed rows while they were read.
  const { removed_seq } = await readChain(db)
  return removed_seq > chain.removed_seq ? verifyAudit(db) : verdict
}

/** Returns the newest row's seq and hash, which prove later that the rows up to it are as they were. */
export async function readAuditEnd(db: Kysely<Tables>): Promise<{ seq: number; hash: string }> {
  const { last_seq, last_hash } = await readChain(db)
  return { seq: last_seq, hash: last_hash }
}

async function readChain(db: Kysely<Tables>): Promise<Tables['audit_chain']> {
  const chain = await db.selectFrom('audit_chain').selectAll().executeTakeFirst()
  // Only somebody who has the file can have deleted it; all rows then stand beside the chain.
  return chain ?? { last_seq: 0, last_hash: '', removed_seq: 0, removed_hash: '' }
}

/** Details of a row that tells which rows retention removed. */
const removal = z.looseObject({ first: z.int(), last: z.int() })
type Removal = z.infer<typeof removal>

async function verifyChain(db: Kysely<Tables>, chain: Tables['audit_chain']): Promise<AuditVerdict> {
  const first = chain.removed_seq + 1
  let [seq, hash] = [chain.removed_seq, chain.removed_hash]
  const stop = (why: string): AuditVerdict => ({
    first,
    last: seq,
    hash,
    broken: { seq: seq + 1, why },
  })
  // The last row that was removed, by what the chain itself tells.
  let removed: number | undefined
  while (seq < chain.last_seq) {
    const rows = await selectListed(db)
      .where('audit.seq', '>', seq)
      .where('audit.seq', '<=', chain.last_seq)
      .orderBy('audit.seq')
      .limit(PAGE)
      .execute()
    if (rows.length === 0) return stop(`it and all rows up to ${chain.last_seq} are missing`)
    for (const row of rows) {
      if (row.seq !== seq + 1) return stop('it is missing')
      if (hashRow(hash, row) !== row.hash) return stop('it is not as it was written')
      if (hasOtherArguments(row)) return stop('the arguments in tool_calls are not those of the call')
      if (row.kind === 'retention') {
        const told = removal.safeParse(parseJson(row.details_json)).data
        if (!told || (removed !== undefined && told.first !== removed + 1))
          return stop(`it does not tell what became of the rows from ${(removed ?? 0) + 1} on`)
        removed = told.last
      }
      ;[seq, hash] = [row.seq, row.hash]
    }
    await yieldToOthers()
  }
  if (hash !== chain.last_hash) return stop('the chain ends elsewhere')
  const verdict = { first, last: seq, hash }
  if (chain.removed_seq !== (removed ?? 0)) {
    const why = 'the rows up to it are gone, and no row of retention tells of that'
    return { ...verdict, broken: { seq: chain.removed_seq, why } }
  }
  // One statement, since rows are added meanwhile.
  const { rows: beside } = await sql<{ seq: number }>`select seq from audit
    where seq <= coalesce((select removed_seq from audit_chain), 0)
      or seq > coalesce((select last_seq from audit_chain), 0)
    order by seq limit 1`.execute(db)
  const [added] = beside
  return added ? { ...verdict, broken: { seq: added.seq, why: 'it was added beside the chain' } } : verdict
}

/** Tells whether the ledger holds other arguments than those of the call that a row tells of. */
export function hasOtherArguments({
  details_json,
  ledger_arguments,
}: Pick<ListedAuditRow, 'details_json' | 'ledger_arguments'>): boolean {
  const details = parseJson(details_json)
  const written = isObject(details) ? details['argumentsHash'] : undefined
  // Calls of earlier versions have no hash.
  return Boolean(written) && ledger_arguments !== null && hashArguments(ledger_arguments) !== written
}

/**
 * Deletes the oldest rows, at most `limit`, keeps the hash that the rest follows, and adds a row that tells which
 * they were. Returns their number.
 */
export async function pruneAudit(
  tx: Tx,
  { before, limit, at }: { before: number; limit: number; at: number },
): Promise<number> {
  // The chain is locked before it is read.
  await tx
    .updateTable('audit_chain')
    .set(eb => ({ removed_seq: eb.ref('removed_seq') }))
    .execute()
  const oldest = await tx
    .selectFrom('audit')
    .select(['seq', 'at', 'hash'])
    .orderBy('seq')
    .limit(limit)
    .execute()
  const keep = oldest.findIndex(({ at }) => at >= before)
  const old = keep === -1 ? oldest : oldest.slice(0, keep)
  const [first, last] = [old[0], old.at(-1)]
  if (!first || !last) return 0
  await tx.updateTable('audit_chain').set({ removed_seq: last.seq, removed_hash: last.hash }).execute()
  const gone = await sql`delete from audit where seq <= ${last.seq}`.execute(tx)
  const details = { first: first.seq, last: last.seq, before: toIso(before) } satisfies Removal
  await record(tx, { at, kind: 'retention', actor: HUB, outcome: 'removed', details })
  return Number(gone.numAffectedRows)
}
