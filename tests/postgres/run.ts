import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { makeTemplate } from '../support/test-database.ts'
import { startServer } from './server.ts'

/*
 * Runs tests on a PostgreSQL of their own: those of the store and of the runtime, and some of the whole hub; with
 * `--full` all of the whole hub, and those that kill it. Paths in place of these, and other arguments, go to vitest.
 */

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

const given = process.argv.slice(2).filter(argument => argument !== '--full')
const full = process.argv.includes('--full')
/** Rounds of the hubs that take over from each other, in the long run. */
const ROUNDS = '200'

const root = join(import.meta.dirname, '..', '..')
// The server is ended also where a terminal interrupts vitest, and this process with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
using server = await startServer()
await makeTemplate(server.url)
const run = (...args: string[]) =>
  spawnSync(process.execPath, args, {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...(full && { SUPERBLOOM_TEST_ROUNDS: ROUNDS }),
      ...process.env,
      SUPERBLOOM_TEST_STORE: server.url,
    },
  }).status ?? 1
const isPicked = !full && given.every(argument => argument.startsWith('-'))
const picked = isPicked ? [...PICKED, ...LONG.map(file => `--exclude=${file}`)] : []
const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project']
const results = [run(...vitest, 'postgres', ...picked, ...given)]
if (full) results.push(run(...vitest, 'real', 'tests/crash/'), run(join(root, 'tests/crash/run.ts')))
process.exitCode = results.find(code => code !== 0) ?? 0
