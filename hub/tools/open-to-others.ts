import { readdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'

/** What a program may consist of, besides files that are executable. */
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
/** So many folders are looked through; a drop-in with more is a package, which its package manager wrote. */
const MOST_FOLDERS = 200

/** On Windows the modes say nothing; there everything counts as its owner's. */
export function isOpen(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & 0o022) !== 0
}

/**
 * What of a dropped-in program others than its owner can write to: its folder, the file that is run, be it elsewhere
 * behind a link, and whatever code lies beside and below it. Packages below `node_modules` are not looked at.
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
