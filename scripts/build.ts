import { spawnSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/* This script makes dist/: the JavaScript of hub/, servers/ and schemas/, the page, and other files. */

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')

rmSync(dist, { recursive: true, force: true })
const isShipped = (path: string) => !/\.(test|d)\.ts$/.test(path)
cpSync(join(root, 'hub/web'), join(dist, 'hub/web'), { recursive: true, filter: isShipped })
cpSync(join(root, 'hub/upstream/drop-in-loader.mjs'), join(dist, 'hub/upstream/drop-in-loader.mjs'))
// The compiler runs last and emits all or nothing: where the program exists, the rest does too.
const compile = [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json']
process.exitCode = spawnSync(process.execPath, compile, { cwd: root, stdio: 'inherit' }).status ?? 1
