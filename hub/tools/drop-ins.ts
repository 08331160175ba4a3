import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type ServerEntry, serverEntry } from '../../schemas/config.ts'
import { serverName } from '../../schemas/names.ts'
import { HubError } from '../core/errors.ts'

/** A folder of `<data>/servers`: a program to run, an entry to read, or the reason why it is neither. */
export type DropIn =
  | { kind: 'program'; name: string; folder: string; file: string; changed: number; disabled: boolean }
  | { kind: 'entry'; name: string; folder: string; entry: ServerEntry }
  | { kind: 'held'; name: string; folder: string; reason: string }
  /** Others than its owner can write to `guilty`: held until they cannot. */
  | { kind: 'open'; name: string; folder: string; guilty: string }

const PROGRAMS = ['server.ts', 'server.js', 'server.mjs']
/** An empty file beside a program that keeps it from being started. */
const DISABLED = 'disabled'

/** What lies in the folder of drop-ins, which is made where it is missing. */
export function readDropIns(folder: string, parseEntry: (file: string, text: string) => unknown): DropIn[] {
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  const isOpen = othersCanWrite(folder)
  return readdirSync(folder, { withFileTypes: true })
    .filter(entry => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name }) => {
      const path = join(folder, name)
      try {
        const found = readDropIn(name, path, parseEntry)
        if (!found) return []
        const guilty = isOpen ? folder : othersCanWrite(path) ? path : undefined
        return [guilty ? { kind: 'open' as const, name, folder: path, guilty } : found]
      } catch (error) {
        // One that is wrong, cannot be read or goes away just now never hides the others.
        if (!(error instanceof HubError) && !(error instanceof Error && 'code' in error)) throw error
        return [{ kind: 'held' as const, name, folder: path, reason: error.message }]
      }
    })
}

/** On Windows the modes say nothing; there the folder counts as its owner's. */
function othersCanWrite(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & 0o022) !== 0
}

function readDropIn(
  name: string,
  folder: string,
  parseEntry: (file: string, text: string) => unknown,
): DropIn | undefined {
  const named = serverName.safeParse(name)
  if (!named.success) {
    return { kind: 'held', name, folder, reason: `the folder's name ${named.error.issues[0]?.message}` }
  }
  const program = PROGRAMS.map(file => join(folder, file)).find(existsSync)
  if (program) {
    const disabled = existsSync(join(folder, DISABLED))
    return { kind: 'program', name, folder, file: program, changed: statSync(program).mtimeMs, disabled }
  }
  const manifest = join(folder, 'mcp.json')
  if (!existsSync(manifest)) return undefined
  const entry = serverEntry.parse(parseEntry(manifest, readFileSync(manifest, 'utf8')))
  return { kind: 'entry', name, folder, entry }
}
