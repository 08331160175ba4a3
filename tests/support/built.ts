import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '..', '..')
/** The program as it is in the package. */
export const builtProgram = join(root, 'dist', 'hub', 'cli', 'superbloom.js')

const SOURCES = [
  'hub',
  'servers',
  'schemas',
  'scripts/build.ts',
  'scripts/sbom.ts',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'tsconfig.page.json',
]

/** Builds dist/ if it is missing or older than its sources. */
export function ensureBuilt(): void {
  if (existsSync(builtProgram) && statSync(builtProgram).mtimeMs > newestOf(SOURCES)) return
  execFileSync(process.execPath, [join(root, 'scripts', 'build.ts')], { cwd: root, stdio: 'inherit' })
}

function newestOf(paths: readonly string[]): number {
  const files = paths.flatMap(path => {
    const whole = join(root, path)
    if (!statSync(whole).isDirectory()) return [whole]
    return readdirSync(whole, { recursive: true, encoding: 'utf8' }).map(file => join(whole, file))
  })
  return Math.max(...files.map(file => statSync(file).mtimeMs))
}
