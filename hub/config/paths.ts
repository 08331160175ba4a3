import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Whether this is the built JavaScript: its files end in .js then. */
const BUILT = import.meta.url.endsWith('.js')

/** The folder that holds hub/ and servers/: of the sources, or dist/. */
const codeFolder = fileURLToPath(new URL('../..', import.meta.url))

/** The folder of package.json. */
export const packageFolder = existsSync(join(codeFolder, 'package.json'))
  ? codeFolder
  : dirname(codeFolder.replace(/[\\/]$/, ''))

/** A program of ours, named as in the sources: "servers/metrics/server.ts". */
export function codeFile(path: string): string {
  return join(codeFolder, BUILT ? path.replace(/\.ts$/, '.js') : path)
}

/** The page's folder, which the build copies. */
export const pageFolder = join(codeFolder, 'hub', 'web')

/** The version that package.json says. */
export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'))
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : '0.0.0'
}
