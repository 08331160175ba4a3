import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { makeTempFolder } from '../../../tests/support/temp-store.ts'
import { findApproval, toApproval, unansweredApprovals } from '../approvals.ts'
import { readContext } from '../context.ts'
import { readMessages } from '../conversations.ts'
import { runningCycle } from '../cycles.ts'
import { listDeadLetters } from '../dead-letters.ts'
import { listEvents, readCursor, readEventFeed } from '../events.ts'
import { readHistory } from '../history.ts'
import { readTokenFactors, readVerdict } from '../hub-state.ts'
import { itemsOfCycle, waitingItems } from '../inbox.ts'
import { callsOfCycle, resultOf } from '../ledger.ts'
import { openStore } from '../open.ts'
import { listSchedules } from '../schedules.ts'
import { searchHistory } from '../search.ts'
import { newestSession } from '../sessions.ts'
import { grantsOf, listTasks } from '../tasks.ts'
import { listThreads } from '../threads.ts'
import { usageOfDay } from '../usage.ts'
import { migrations } from './index.ts'

/*
 * Each fixture is a whole store as an earlier schema had it, with rows in every table. Whoever adds a
 * migration adds the fixture of the schema before it.
 */
const FIXTURES = join(import.meta.dirname, 'fixtures')
const earlier = migrations.slice(0, -1).map(({ name }) => name)
const THREAD = 'thr_homelab'

/** Makes a data folder of an earlier version. */
function makeFolder(name: string) {
  const folder = makeTempFolder()
  const database = new Database(join(folder.path, 'superbloom.db'))
  database.pragma('journal_mode = WAL')
  database.exec(readFileSync(join(FIXTURES, `${name}.sql`), 'utf8'))
  const before = readTables(database)
  database.close()
  return { ...folder, before }
}

type Rows = Record<string, unknown>[]

/** Reads every row of every table. */
function readTables(database: Database.Database): Map<string, Rows> {
  const names = database
    .prepare("select name from sqlite_master where type = 'table' and sql not like 'create virtual%'")
    .pluck()
    .all() as string[]
  const own = names.filter(name => !/^(sqlite|kysely|history_search)_/.test(name))
  return new Map(own.map(name => [name, database.prepare(`select * from ${name}`).all() as Rows]))
}

test('there is a fixture of every earlier schema, with rows in all of its tables', () => {
  expect(readdirSync(FIXTURES).sort()).toEqual(earlier.map(name => `${name}.sql`))
  for (const name of earlier) {
    using folder = makeFolder(name)
    for (const [table, rows] of folder.before)
      expect([name, table, rows.length > 0]).toEqual([name, table, true])
  }
})

test.for(earlier)('a data folder of %s opens: nothing that was in it is lost or changed', async name => {
  using folder = makeFolder(name)
  await (await openStore(folder.path))[Symbol.asyncDispose]()
  const next = migrations[earlier.indexOf(name) + 1]?.name
  expect(existsSync(join(folder.path, 'backups', `before-${next}.db`))).toBe(true)
  const database = new Database(join(folder.path, 'superbloom.db'), { readonly: true })
  const after = readTables(database)
  const schema = dumpSchema(database)
  database.close()
  for (const [table, rows] of folder.before) {
    const found = (after.get(table) ?? []).map(row => pick(row, rows[0] ?? {}))
    // What the hub counts of its own commits begins with the first one.
    const kept = found.filter(row => row['key'] !== 'commits')
    expect([table, kept]).toEqual([table, rows])
  }
  using fresh = makeTempFolder()
  await (await openStore(fresh.path))[Symbol.asyncDispose]()
  const current = new Database(join(fresh.path, 'superbloom.db'), { readonly: true })
  expect(schema).toEqual(dumpSchema(current))
  current.close()
})

function pick(row: Record<string, unknown>, like: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).filter(([column]) => column in like))
}

/** Returns what the schema consists of, whatever the words that made it. */
function dumpSchema(database: Database.Database) {
  const select = "select name, type, sql from sqlite_master where name not like 'kysely%' order by type, name"
  const parts = database.prepare(select).all() as { name: string; type: string; sql: string | null }[]
  return parts.map(({ name, type, sql }) => [
    type,
    name,
    type === 'table'
      ? database.pragma(`table_xinfo(${name})`)
      : (sql?.replaceAll('"', '').replace(/\s+/g, ' ') ?? null),
  ])
}

test.for(earlier)('a data folder of %s reads as it did', async name => {
  const level = earlier.indexOf(name) + 1
  using folder = makeFolder(name)
  await using store = await openStore(folder.path)
  const { db } = store
  expect(await listThreads(db)).toMatchObject([
    { id: THREAD, kind: 'main', status: 'waiting', window_start: 3, last_seq: 5, fence: 2 },
    { id: `${THREAD}.task_1`, kind: 'task', status: 'complete' },
  ])
  expect((await readMessages(db, 'homelab', 0, 9)).map(({ text, seq }) => [seq, text])).toEqual([
    [1, 'Is the NAS warm?'],
    [2, 'It has 41 °C.'],
    [3, 'And the router?'],
  ])
  expect((await readHistory(db, THREAD, 3)).map(({ content }) => content.text)).toEqual([
    '41 °C',
    'It has 41 °C.',
    'cpu_high of metrics',
  ])
  expect((await waitingItems(db, THREAD)).map(({ payload }) => payload.kind)).toEqual(['message'])
  expect((await itemsOfCycle(db, 'cyc_2')).map(({ payload }) => payload.kind)).toEqual(['event'])
  const unanswered = await db.selectFrom('inbox').select('seq').where('unanswered', '=', 'new').execute()
  expect(unanswered).toEqual([{ seq: 3 }])
  expect(await runningCycle(db, THREAD)).toMatchObject({ id: 'cyc_2', attempts: 1, parked_at: null })
  expect((await callsOfCycle(db, 'cyc_1')).map(resultOf)).toEqual([{ text: '41 °C', isError: false }])
  expect(await readContext(db, { scope: 'agent', owner: 'homelab' })).toEqual([
    { key: 'wish', value: 'never stop plex' },
  ])
  const missed = level < 2 ? 'latest' : 'skip'
  expect((await listSchedules(db)).map(row => [row.id, row.missed])).toEqual([
    ['sch_2', 'latest'],
    ['sch_1', missed],
  ])
  expect((await listEvents(db, { limit: 9 })).map(({ id, seq }) => [id, seq])).toEqual([
    ['evt_1', 2],
    ['evt_2', 1],
  ])
  expect((await readEventFeed(db)).lastSeq).toBe(2)
  expect(await readCursor(db, 'metrics')).toEqual({ stream: 'str_1', cursor: 12 })
  expect(await readVerdict(db, 'abc')).toEqual({ verdict: '{"era":"legacy"}', at: 500 })
  if (level < 2) return
  const [task] = await listTasks(db, { agent: 'homelab', limit: 9 })
  expect(task && grantsOf(task).tools).toEqual([['get_*']])
  expect(await usageOfDay(db, '2026-11-22')).toMatchObject([{ tokens: 120, wakes: 1 }])
  expect(await listDeadLetters(db, 'discarded')).toMatchObject([{ id: 'dl_1', decidedBy: 'owner', steps: 2 }])
  expect(await newestSession(db, THREAD)).toMatchObject({ number: 1, last_seq: 2, summary_by: 'extract' })
  expect(await unansweredApprovals(db)).toEqual(['apr_1'])
  const approval = await findApproval(db, 'apr_1')
  expect(approval && toApproval(approval)).toMatchObject({ tool: 'restart_container', decidedBy: 'owner' })
  expect(await readTokenFactors(db)).toEqual(new Map([['qwen3', 1.1]]))
  const found = await searchHistory(db, { agent: 'homelab', query: 'temperature', limit: 9 })
  expect(found.map(({ session }) => session.number)).toContain(1)
})
