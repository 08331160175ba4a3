import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeTemplate } from '../support/test-database.ts'
import { startServer } from './server.ts'

/*
 * Runs tests on a PostgreSQL of their own: those of the store and of the runtime, and some of the whole hub; with
 * `--full` all of the whole hub, and those that kill it. Then the plans of all that they sent are read, at a size of
 * 20,000 threads, with `--full` of a million. Paths in place of these tests, and other arguments, go to vitest; with
 * `--plans` the plans are read there too.
 */

const PLANS = 'tests/postgres/plans.test.ts'
const A_MILLION = '1000000'

/** Tests of the runtime that take long, and differ little from one store to another. */
const LONG = ['attacks', 'approval-deaths', 'structured', 'compaction', 'task-ends'].map(
  name => `hub/runtime/${name}.test.ts`,
)

/** Tests that ask most of the store. */
const PICKED = [
  ...['hub/store/', 'hub/runtime/', 'tests/postgres/'],
  ...[
    'approvals',
    'audit',
    'chat',
    'deleted-conversation',
    'flows',
    'keeping',
    'search-messages',
    'tasks',
  ].map(name => `tests/e2e/${name}`),
]

const own = ['--full', '--plans']
const given = process.argv.slice(2).filter(argument => !own.includes(argument))
const full = process.argv.includes('--full')
/** Rounds of the hubs that take over from each other, in the long run. */
const ROUNDS = '200'

const root = join(import.meta.dirname, '..', '..')
// The server is ended also where a terminal interrupts vitest, and this process with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
using stack = new DisposableStack()
const server = stack.use(await startServer())
const scratch = mkdtempSync(join(tmpdir(), 'superbloom-statements-'))
stack.defer(() => rmSync(scratch, { recursive: true }))
const statements = join(scratch, 'statements.jsonl')
await makeTemplate(server.url)
const run = (variables: Record<string, string>, ...args: string[]) =>
  spawnSync(process.execPath, args, {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...(full && { SUPERBLOOM_TEST_ROUNDS: ROUNDS }),
      ...process.env,
      SUPERBLOOM_TEST_STORE: server.url,
      ...variables,
    },
  }).status ?? 1
const isPicked = !full && given.every(argument => argument.startsWith('-'))
const picked = isPicked ? [...PICKED, ...LONG.map(file => `--exclude=${file}`)] : []
const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project']
const recording = { SUPERBLOOM_TEST_STATEMENTS: statements }
const results = [run(recording, ...vitest, 'postgres', `--exclude=${PLANS}`, ...picked, ...given)]
if (full || isPicked || process.argv.includes('--plans')) {
  const threads = full ? { SUPERBLOOM_TEST_THREADS: A_MILLION } : {}
  results.push(run({ ...threads, SUPERBLOOM_TEST_PLANS: statements }, ...vitest, 'postgres', PLANS))
}
if (full) results.push(run({}, ...vitest, 'real', 'tests/crash/'), run({}, join(root, 'tests/crash/run.ts')))
process.exitCode = results.find(code => code !== 0) ?? 0
