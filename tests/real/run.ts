import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { installPackages } from './setup/packages.ts'

/* Runs the tests with real programs; `--full` includes the slow ones. Other arguments go to vitest. */

const given = process.argv.slice(2)
const full = given.includes('--full')
const root = join(import.meta.dirname, '..', '..')

try {
  installPackages({ full })
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exit(1)
}
const vitest = [
  join(root, 'node_modules/vitest/vitest.mjs'),
  'run',
  '--project',
  'real*',
  ...(full ? [] : ['--exclude', '**/*.full.test.ts']),
  ...given.filter(argument => argument !== '--full'),
]
const { status } = spawnSync(process.execPath, vitest, { cwd: root, stdio: 'inherit' })
process.exitCode = status ?? 1
