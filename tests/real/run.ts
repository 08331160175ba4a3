import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { installPackages } from './setup/packages.ts'

/* Runs the tests against real counterparts. Arguments go to vitest. */

const root = join(import.meta.dirname, '..', '..')

try {
  installPackages()
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exit(1)
}
const vitest = [
  join(root, 'node_modules/vitest/vitest.mjs'),
  'run',
  '--project',
  'real',
  ...process.argv.slice(2),
]
const { status } = spawnSync(process.execPath, vitest, { cwd: root, stdio: 'inherit' })
process.exitCode = status ?? 1
