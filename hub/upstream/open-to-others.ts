import { readdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'

/** Extensions of files that a program may consist of, besides executable files. */
const CODE = new Set([
  '.ts',
  '.mts',
  '.cts',
  '.js',
  '.mjs',
  '.cjs',
  '.json',
  '.py',
  '.rb',
  '.sh',
  '.wasm',
  '.node',
])
/** The most folders that are checked; a drop-in with more is a package, which its package manager wrote. */
const MOST_FOLDERS = 200

/** Tells whether others than its owner can write to a path; never on Windows, whose modes say nothing. */
export function isOpen(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & 0o022) !== 0
}

/**
 * Finds a path of a drop-in that others than its owner can write to: its folder, the file that is run (even
 * behind a link), or code beside and below it. Packages below `node_modules` are not checked.
 */
export function findOpen(folder: string, file: string): string | undefined {
  const real = realpathSync(file)
  return [folder, real, dirname(real)].find(isOpen) ?? findOpenBelow(folder)
}

function findOpenBelow(top: string): string | undefined {
  const folders = [top]
  for (const folder of folders.values()) {
    if (folders.length > MOST_FOLDERS) return undefined
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        if (isOpen(path)) return path
        if (entry.name !== 'node_modules' && !entry.name.startsWith('.')) folders.push(path)
      } else if (entry.isFile() && isCode(path) && isOpen(path)) return path
    }
  }
  return undefined
}

function isCode(path: string): boolean {
  return CODE.has(extname(path)) || (statSync(path).mode & 0o111) !== 0
}
