import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** True where the running code is the built JavaScript, whose files end in .js. */
const BUILT = import.meta.url.endsWith('.js')

/** Folder that holds hub/ and servers/: the sources' root, or dist/. */
const codeFolder = fileURLToPath(new URL('../..', import.meta.url))

/** Folder of package.json. */
export const packageFolder = existsSync(join(codeFolder, 'package.json'))
  ? codeFolder
  : dirname(codeFolder.replace(/[\\/]$/, ''))

/** Returns the path of a program of ours, which is named as in the sources: "servers/metrics/server.ts". */
export function codeFile(path: string): string {
  return join(codeFolder, BUILT ? path.replace(/\.ts$/, '.js') : path)
}

/** Folder of the page, which the build copies. */
export const pageFolder = join(codeFolder, 'hub', 'web')

export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'))
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : '0.0.0'
}
