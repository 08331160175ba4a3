import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { makeTemplate } from '../support/test-database.ts'
import { startServer } from './server.ts'

/*
 * Runs the tests of the store, of the runtime and of the whole hub on a PostgreSQL of their own. Arguments go to
 * vitest.
 */

const root = join(import.meta.dirname, '..', '..')
// The server is ended also where a terminal interrupts vitest, and this process with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
using server = await startServer()
await makeTemplate(server.url)
const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project', 'postgres']
const { status } = spawnSync(process.execPath, [...vitest, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, SUPERBLOOM_TEST_STORE: server.url },
})
process.exitCode = status ?? 1
