import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { historyContent } from '../../schemas/inbox.ts'
import { HubError } from '../core/errors.ts'
import { withoutNul } from '../core/json.ts'
import { dialectOf } from './dialect.ts'
import { COPY_KEY, readCopyMark, saveCopyMark, saveMovedTo } from './hub-state.ts'
import type { Store } from './open.ts'
import { toSearchText } from './search-index.ts'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

/** Key of each table. They are copied in this order: the audit takes rows only once its chain is there. */
const KEYS: { readonly [Table in keyof Tables]: readonly (keyof Tables[Table] & string)[] } = {
  agents: ['name'],
  allowances: ['id'],
  approval_keys: ['hash'],
  approvals: ['id'],
  audit_chain: ['last_seq'],
  audit: ['seq'],
  context: ['scope', 'owner', 'key'],
  conversations: ['id'],
  cycles: ['id'],
  dead_letters: ['id'],
  event_cursors: ['server'],
  event_feed: ['stream'],
  events: ['id'],
  files: ['id'],
  history: ['thread_id', 'seq'],
  hub_state: ['key'],
  inbox: ['seq'],
  messages: ['conversation_id', 'seq'],
  notifications: ['id'],
  oauth: ['kind', 'hash'],
  people: ['name'],
  push_subscriptions: ['token_id'],
  schedules: ['id'],
  server_eras: ['server'],
  server_logins: ['server'],
  sessions: ['thread_id', 'number'],
  threads: ['id'],
  tokens: ['id'],
  tool_calls: ['id'],
  tool_pins: ['server', 'tool'],
  usage_days: ['day', 'agent'],
  // Its words are made anew from the history: each database keeps them in its own way.
  history_texts: ['thread_id', 'seq'],
}
const TABLES = Object.keys(KEYS) as (keyof Tables)[]

/** Rows that are held at once; a row of `files` may have 10 MB. */
const BATCH = 500
const BATCH_OF_FILES = 5
/** Keys in `hub_state` that belong to the store and not to what it holds. */
const OWN_STATE = ['commits', 'commit', COPY_KEY]

type Row = Record<string, unknown>

export interface CopiedTable {
  table: keyof Tables
  rows: number
  /** True if an earlier run had copied it. */
  wasThere: boolean
}

/**
 * Copies all that a store holds into an empty one, each table in one transaction; what an earlier run copied is not
 * copied again. Then compares both, row by row, and marks the old store as moved to `place`. Throws `conflict` if the
 * other store holds something else, or if the two differ.
 */
export async function copyStore(
  from: Store,
  to: Store,
  { place, onTable = () => undefined }: { place: string; onTable?: (copied: CopiedTable) => void },
): Promise<void> {
  const known = await readCopyMark(to.db)
  if (known === undefined && (await holdsSomething(to.db)))
    throw new HubError('conflict', `${place} holds something already. Copy into an empty store.`)
  const done = new Set(known)
  for (const table of TABLES) {
    const wasThere = done.has(table)
    if (!wasThere)
      await to.writeSecret(async tx => {
        await copyTable(from.db, tx, table)
        await saveCopyMark(tx, [...done, table])
      })
    done.add(table)
    const [before, after] = [await digest(from.db, table), await digest(to.db, table)]
    if (before.rows !== after.rows || before.hash !== after.hash)
      throw new HubError(
        'conflict',
        `The table ${table} of ${place} is not what it was copied from. Empty that store, and begin again.`,
      )
    onTable({ table, rows: after.rows, wasThere })
  }
  await from.write(tx => saveMovedTo(tx, place))
  await to.write(async tx => {
    await saveCopyMark(tx, undefined)
    await saveMovedTo(tx, undefined)
  })
}

async function holdsSomething(db: Kysely<Tables>): Promise<boolean> {
  for (const table of ['agents', 'conversations', 'audit', 'tokens'] as const)
    if (await db.selectFrom(table).select(sql`1`.as('one')).limit(1).executeTakeFirst()) return true
  return false
}

async function copyTable(from: Kysely<Tables>, tx: Tx, table: keyof Tables): Promise<void> {
  // The migrations leave rows; the audit lets none go.
  if (table === 'hub_state') await tx.deleteFrom(table).where('key', 'not in', OWN_STATE).execute()
  else if (table !== 'audit') await tx.deleteFrom(table).execute()
  for await (const rows of batches(from, table)) {
    if (table === 'history_texts') await index(from, tx, rows)
    else
      await sql`insert into ${sql.table(table)} (${sql.join(Object.keys(rows[0] ?? {}).map(name => sql.ref(name)))})
      values ${sql.join(rows.map(row => sql`(${sql.join(Object.values(row))})`))}`.execute(tx)
  }
  for (const statement of dialectOf(tx).countOn[table] ?? []) await sql.raw(statement).execute(tx)
}

/** Makes rows of the history findable. */
async function index(from: Kysely<Tables>, tx: Tx, rows: readonly Row[]): Promise<void> {
  const { toIndexed } = dialectOf(tx)
  for (const { thread_id, seq, created_at } of rows as Pick<
    Tables['history'],
    'thread_id' | 'seq' | 'created_at'
  >[]) {
    const found = await from
      .selectFrom('history')
      .select('content_json')
      .where('thread_id', '=', thread_id)
      .where('seq', '=', seq)
      .executeTakeFirstOrThrow()
    const text = toIndexed(toSearchText(historyContent.parse(JSON.parse(found.content_json))))
    await tx.insertInto('history_texts').values({ thread_id, seq, created_at, text }).execute()
  }
}

/**
 * Reads a table in the order of its key. Its texts lose NUL characters, which old rows of SQLite may have and PostgreSQL
 * stores none of; the audit stays as it is, since its hashes are of what was there.
 */
async function* batches(db: Kysely<Tables>, table: keyof Tables): AsyncGenerator<Row[]> {
  const keys = KEYS[table]
  const refs = sql.join(keys.map(key => sql.ref(key)))
  const columns = table === 'history_texts' ? sql`thread_id, seq, created_at` : sql`*`
  const own = table === 'hub_state' ? sql`and key not in (${sql.join(OWN_STATE)})` : sql``
  const size = table === 'files' ? BATCH_OF_FILES : BATCH
  let after = sql`1 = 1`
  for (;;) {
    const { rows } = await sql<Row>`select ${columns} from ${sql.table(table)} where ${after} ${own}
      order by ${refs} limit ${size}`.execute(db)
    if (rows.length > 0) yield table === 'audit' ? rows : rows.map(withoutNul)
    const last = rows.at(-1)
    if (!last || rows.length < size) return
    after = sql`(${refs}) > (${sql.join(keys.map(key => last[key]))})`
  }
}

/** Returns the number of rows of a table, and a hash of them in any order: a key may lose a character. */
async function digest(db: Kysely<Tables>, table: keyof Tables): Promise<{ rows: number; hash: string }> {
  const sum = Buffer.alloc(32)
  let count = 0
  for await (const rows of batches(db, table)) {
    count += rows.length
    for (const row of rows) {
      const values = Object.keys(row)
        .sort()
        .map(name => row[name])
      const hash = createHash('sha256').update(JSON.stringify(values)).digest()
      for (const [index, byte] of hash.entries()) sum[index] = (sum[index] ?? 0) ^ byte
    }
  }
  return { rows: count, hash: sum.toString('hex') }
}
