import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeEmptyDatabase, server, TEMPLATE, type TestDatabase } from '../support/test-database.ts'
import { fill, GROWING } from './fill.ts'
import { findScans, type Plan } from './find-scans.ts'
import { READS_ALL } from './reads-all.ts'

const recorded = process.env['SUPERBLOOM_TEST_PLANS']
if (server === undefined || recorded === undefined)
  throw new Error('These tests need what other tests sent to a PostgreSQL: npm run test:postgres -- --plans')
const at = server
const statements = readStatements(recorded)
const threads = Number(process.env['SUPERBLOOM_TEST_THREADS'] ?? 20_000)
/** PostgreSQL decides at the sixth time whether a named statement keeps one plan for all parameters. */
const TIMES = 6

interface Statement {
  text: string
  values: unknown[]
}

function readStatements(file: string): Map<string, Statement[]> {
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  const all = lines.map(line => JSON.parse(line) as Statement & { shape: string })
  return Map.groupBy(all, ({ shape }) => shape)
}

let database: TestDatabase
let client: pg.Client

beforeAll(async () => {
  database = await makeEmptyDatabase(at, `template ${TEMPLATE}`)
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await fill(client, { threads, history: 8, messages: 3 })
}, 1_800_000)
afterAll(async () => {
  await client?.end()
  await database?.[Symbol.asyncDispose]()
}, 600_000)

const toLiteral = (value: unknown) =>
  value === null || value === undefined
    ? 'null'
    : pg.escapeLiteral(typeof value === 'object' ? JSON.stringify(value) : String(value))

/** Returns the plans of a statement: the first, and the one that PostgreSQL has settled for. */
async function plansOf({ text, values }: Statement): Promise<Plan[]> {
  const plans: Plan[] = []
  await client.query(`prepare one as ${text}`)
  const given = values.length > 0 ? `(${values.map(toLiteral).join(', ')})` : ''
  for (let time = 0; time < TIMES; time++) {
    const { rows } = await client.query(`explain (format json) execute one${given}`)
    plans.push(rows[0]['QUERY PLAN'][0].Plan)
  }
  await client.query('deallocate one')
  return plans
}

test(`no statement of the store reads a whole table that grows, with ${threads} sleeping threads`, {
  timeout: 600_000,
}, async () => {
  const partial = await client.query("select indexname from pg_indexes where indexdef like '% WHERE %'")
  const judged = { growing: GROWING, partial: new Set(partial.rows.map(({ indexname }) => indexname)) }
  const found = new Map<string, Set<string>>()
  for (const [shape, examples] of statements) {
    if (READS_ALL.some(({ part }) => shape.includes(part))) continue
    for (const example of examples) {
      const scans = (await plansOf(example)).flatMap(plan => findScans(plan, judged))
      for (const scan of scans) found.set(scan, (found.get(scan) ?? new Set()).add(shape))
    }
  }
  expect(Object.fromEntries([...found].map(([scan, shapes]) => [scan, [...shapes]]))).toEqual({})
})

test('a plan with a sequential scan is found', async () => {
  const [plan] = await plansOf({ text: 'select count(*) from threads where summary is not null', values: [] })
  expect(plan && findScans(plan, { growing: GROWING, partial: new Set() })).toEqual(['Seq Scan on threads'])
})
