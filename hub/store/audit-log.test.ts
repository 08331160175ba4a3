import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openTempStore } from '../../tests/support/temp-store.ts'
import { server } from '../../tests/support/test-database.ts'
import { type AuditEntry, listAudit, pruneAudit, record, showArguments, verifyAudit } from './audit-log.ts'
import type { Store } from './open.ts'

const entry = (at: number, rest: Partial<AuditEntry> = {}): AuditEntry => ({
  at,
  kind: 'call',
  actor: 'alex',
  tool: 'restart',
  outcome: 'ok',
  ...rest,
})

async function fill({ write }: Store, count: number): Promise<void> {
  for (let at = 1; at <= count; at++) await write(tx => record(tx, entry(at)))
}

const GUARDS = ['audit_unchanged', 'audit_kept', 'audit_at_end', 'audit_added']
/** Words with which a row takes the place of another: SQLite's own do so without a trigger for the row that goes. */
const [insert, instead] =
  server === undefined
    ? ['insert or replace', '']
    : ['insert', 'on conflict (seq) do update set actor = excluded.actor']
/** A copy of the third row with another seq. */
const copied = (seq: number) =>
  `${insert} into audit select ${seq}, at, kind, 'eve', role, door, power, tool, outcome, call_id, details_json, hash from audit where seq = 3 ${instead}`

/** Changes rows as somebody does who has the file: the triggers are gone first. */
async function tamper({ db }: Store, change: string): Promise<void> {
  const unguard =
    server === undefined
      ? GUARDS.map(guard => `drop trigger ${guard}`)
      : ['set local session_replication_role = replica']
  await db.transaction().execute(async tx => {
    for (const statement of [...unguard, change]) await sql.raw(statement).execute(tx)
  })
}

test('each row carries the hash of the one before, and the chain holds', async () => {
  await using store = await openTempStore()
  await fill(store, 2)
  await store.write(tx => record(tx, entry(3), entry(4)))
  const rows = await listAudit(store.db, { limit: 10 })
  expect(rows.map(({ seq, at }) => [seq, at])).toEqual([
    [4, 4],
    [3, 3],
    [2, 2],
    [1, 1],
  ])
  expect(new Set(rows.map(({ hash }) => hash)).size).toBe(4)
  expect(await verifyAudit(store.db)).toEqual({ first: 1, last: 4, hash: rows[0]?.hash })
})

test('a store without rows has a chain that holds', async () => {
  await using store = await openTempStore()
  expect(await verifyAudit(store.db)).toEqual({ first: 1, last: 0, hash: '' })
})

test('rows of one commit, of a job that fails and of one that runs again follow each other without a gap', async () => {
  await using store = await openTempStore()
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) =>
      store.write(async tx => {
        await record(tx, entry(index))
        if (index % 3 === 0) throw new Error('undone')
      }),
    ),
  )
  const kept = results.filter(({ status }) => status === 'fulfilled').length
  expect(kept).toBe(13)
  expect(await verifyAudit(store.db)).toMatchObject({ last: kept })
  expect((await verifyAudit(store.db)).broken).toBeUndefined()
})

test.each([
  ['a changed row', "update audit set outcome = 'denied' where seq = 3", 3, 'not as it was written'],
  ['a changed time', 'update audit set at = at + 1 where seq = 1', 1, 'not as it was written'],
  ['changed details', `update audit set details_json = '{"a":1}' where seq = 5`, 5, 'not as it was written'],
  ['a removed row', 'delete from audit where seq = 3', 3, 'it is missing'],
  ['the removed first row', 'delete from audit where seq = 1', 1, 'it is missing'],
  ['the removed last row', 'delete from audit where seq = 5', 5, 'up to 5 are missing'],
  ['a row before all', copied(-5), -5, 'beside the chain'],
  ['a row after all', copied(9), 9, 'beside the chain'],
  ['a replaced row', copied(4), 4, 'not as it was written'],
  ['another hash', "update audit set hash = 'x' where seq = 5", 5, 'not as it was written'],
  ['a chain without ends', 'delete from audit_chain', 1, 'beside the chain'],
  ['another end', "update audit_chain set last_hash = 'x'", 6, 'ends elsewhere'],
])('%s is found', async (_what, change, seq, why) => {
  await using store = await openTempStore()
  await fill(store, 5)
  await tamper(store, change)
  expect((await verifyAudit(store.db)).broken).toEqual({ seq, why: expect.stringContaining(why) })
})

test('no row can be changed or removed, but as the oldest by retention', async () => {
  await using store = await openTempStore()
  await fill(store, 5)
  for (const change of [
    "update audit set outcome = 'x'",
    'delete from audit where seq = 5',
    'delete from audit',
    copied(-5),
    copied(4),
    copied(5),
    copied(6),
  ])
    await expect(store.write(tx => sql.raw(change).execute(tx))).rejects.toThrow('the audit is append-only')
  expect(await store.write(tx => pruneAudit(tx, { before: 3, limit: 100, at: 10 }))).toBe(2)
  expect(await verifyAudit(store.db)).toMatchObject({ first: 3, last: 6 })
  await fill(store, 1)
  expect(await verifyAudit(store.db)).toMatchObject({ first: 3, last: 7 })
  const later = (limit: number) => store.write(tx => pruneAudit(tx, { before: 9, limit, at: 11 }))
  expect([await later(2), await later(100), await later(100)]).toEqual([2, 1, 0])
  const rows = await listAudit(store.db, { kinds: ['retention'], limit: 10 })
  expect(rows.map(({ details_json }) => JSON.parse(details_json))).toMatchObject([
    { first: 5, last: 5 },
    { first: 3, last: 4 },
    { first: 1, last: 2 },
  ])
  expect(await verifyAudit(store.db)).toEqual({ first: 6, last: 9, hash: rows[0]?.hash })
})

test.each([
  ['before retention ever ran', 0],
  ['after retention ran', 2],
  ['although retention ran again', 3],
])('rows that somebody removed as if by retention are found: %s', async (_when, runs) => {
  await using store = await openTempStore()
  await fill(store, 9)
  const prune = (before: number) => store.write(tx => pruneAudit(tx, { before, limit: 100, at: 20 }))
  if (runs > 0) expect(await prune(3)).toBe(2)
  await store.write(tx =>
    sql`update audit_chain set removed_seq = 6, removed_hash = (select hash from audit where seq = 6)`.execute(
      tx,
    ),
  )
  await store.write(tx => sql`delete from audit where seq <= 6`.execute(tx))
  if (runs === 3) expect(await prune(8)).toBe(1)
  const { broken } = await verifyAudit(store.db)
  expect(broken?.why).toMatch(runs === 3 ? /became of the rows from 3 on/ : /no row of retention tells/)
})

test('secrets do not get in: by their names, or known by their values', async () => {
  await using store = await openTempStore()
  const redact = (text: string) => text.replaceAll('hunter2hunter2', '***')
  const secret = 'swordfish'
  const args = {
    url: `https://x/?a=${secret}`,
    note: 'says "hunter2hunter2"',
    headers: { 'X-Any': secret },
    password: secret,
    nested: [{ api_key: secret, credentials: { value: secret, pin: 1234 } }],
    [`${'x'.repeat(600)}`]: 1,
  }
  const shown = showArguments(args, redact)
  const details = { arguments: shown, token: secret, count: 12 }
  await store.write(tx => record(tx, entry(1, { tool: `${'y'.repeat(500)}\0`, details })))
  const [row] = await listAudit(store.db, { limit: 10 })
  for (const planted of [secret, 'hunter2', '1234']) expect(JSON.stringify(row)).not.toContain(planted)
  expect(JSON.parse(row?.details_json ?? '')).toEqual({ arguments: shown, token: '***', count: 12 })
  expect(shown).toMatch(/^\{"headers":\{"X-Any":"\*\*\*"\},"nested".*… \(\d+ more characters\)$/)
  expect(shown.length).toBeLessThan(540)
  expect(row?.tool).toMatch(/^y{200}…/)
  const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)
  expect(showArguments(deep, redact)).toBe('"nested too deeply"')
})

test.each([
  [{ pwd: 'moonstone', pin: '4711-moonstone', psk: ['moonstone'], OTP: 'moonstone' }, '***'],
  [{ env: ['API_KEY=moonstone', 'PWD=moonstone', 'TZ=UTC'] }, 'TZ=UTC'],
  [{ body: '{"user":"alex","password":"moonstone","more":[{"pwd":"moonstone"}]}' }, 'alex'],
  [{ body: '["{\\"token\\":\\"moonstone\\"}"]' }, '***'],
  [{ note: 'use sk-moonstone123 and ghp_moonstone123 or xoxb-moonstone-1, thanks' }, 'thanks'],
  [{ note: 'AKIAMOONSTONE12345 is it' }, ' is it'],
])('what is secret in %j is masked', (args, kept) => {
  const shown = showArguments(args, text => text)
  expect(shown).not.toMatch(/moonstone/i)
  expect(shown).toContain(kept)
})

test('rows are filtered, and an export continues after a row', async () => {
  await using store = await openTempStore()
  await store.write(tx =>
    record(
      tx,
      entry(1),
      entry(2, { actor: 'agent:homelab', kind: 'read' }),
      entry(3, { tool: 'stop' }),
      entry(4),
    ),
  )
  const seqs = async (filter: object) =>
    (await listAudit(store.db, { limit: 10, ...filter })).map(({ seq }) => seq)
  expect(await seqs({ actor: 'alex' })).toEqual([4, 3, 1])
  expect(await seqs({ tool: 'stop' })).toEqual([3])
  expect(await seqs({ kinds: ['read'] })).toEqual([2])
  expect(await seqs({ since: 2, until: 4 })).toEqual([3, 2])
  expect(await seqs({ after: 1, limit: 2 })).toEqual([2, 3])
})
