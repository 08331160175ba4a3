import { spawnSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeSbom } from './sbom.ts'

/* This script makes dist/: the JavaScript of hub/, servers/ and schemas/, the page, what all is made of, and other files. */

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')

rmSync(dist, { recursive: true, force: true })
const isNotCompiled = (path: string) => !path.endsWith('.ts')
cpSync(join(root, 'hub/web'), join(dist, 'hub/web'), { recursive: true, filter: isNotCompiled })
cpSync(join(root, 'hub/upstream/drop-in-loader.mjs'), join(dist, 'hub/upstream/drop-in-loader.mjs'))
writeSbom(root, dist)
// The program is compiled last, and all of it or nothing is emitted: where it exists, the rest does too.
const isBuilt =
  compile('tsconfig.page.json', '--noEmit', 'false', '--noEmitOnError', '--outDir', 'dist') &&
  compile('tsconfig.build.json')
process.exitCode = isBuilt ? 0 : 1

function compile(project: string, ...options: string[]): boolean {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const args = [compiler, '-p', project, '--rootDir', '.', ...options]
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status === 0
}
