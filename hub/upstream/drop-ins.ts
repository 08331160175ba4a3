import { existsSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ServerEntry } from '../../schemas/config.ts'
import { serverName, toServerNames } from '../../schemas/names.ts'
import { describeError } from '../core/errors.ts'
import { findOpen, isOpen } from './open-to-others.ts'

/** A folder of `<data>/servers`: a program to run, an entry to read, or the reason why it is neither. */
export type DropIn = { name: string; folder: string } & (
  | { kind: 'program'; file: string; changed: number; disabled: boolean }
  | { kind: 'entry'; file: string; entry: ServerEntry }
  | { kind: 'held'; reason: string }
  /** A folder in which others than its owner can write to `guilty`; it is refused until they cannot. */
  | { kind: 'open'; guilty: string }
) & {
    /** The folder's name, if the server's name differs. */
    writtenAs?: string
  }

const PROGRAMS = ['server.ts', 'server.js', 'server.mjs']
/** The name of an empty file that keeps the program beside it from being started. */
const DISABLED = 'disabled'

/** Reads the folder of drop-ins; creates it if it is missing. A fault in a drop-in refuses only that one. */
export function readDropIns(folder: string, readEntry: (file: string) => ServerEntry): DropIn[] {
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  const isOpenToAll = isOpen(folder)
  const written = readdirSync(folder, { withFileTypes: true })
    .filter(
      entry =>
        (entry.isDirectory() || entry.isSymbolicLink()) &&
        !entry.name.startsWith('.') &&
        entry.name !== 'node_modules',
    )
    .map(entry => entry.name)
    .sort((a, b) => (a < b ? -1 : 1))
  return [...toServerNames(written)].flatMap(([own, name]): DropIn[] => {
    const path = join(folder, own)
    const named = { name, folder: path, ...(own === name ? {} : { writtenAs: own }) }
    try {
      const found = readDropIn(name, path, readEntry)
      if (!found) return []
      const guilty = isOpenToAll ? folder : findOpen(path, found.file)
      return [guilty ? { ...named, kind: 'open', guilty } : { ...named, ...found }]
    } catch (error) {
      return [{ ...named, kind: 'held', reason: describeError(error) }]
    }
  })
}

function readDropIn(name: string, folder: string, readEntry: (file: string) => ServerEntry) {
  if (lstatSync(folder).isSymbolicLink()) {
    throw new Error('is a symbolic link, which is not followed: put a folder with the files here')
  }
  const program = PROGRAMS.map(file => join(folder, file)).find(existsSync)
  const file = program ?? join(folder, 'mcp.json')
  if (!existsSync(file)) return undefined
  const named = serverName.safeParse(name)
  if (!named.success) throw new Error(`the folder's name ${named.error.issues[0]?.message}`)
  if (!program) return { kind: 'entry' as const, file, entry: readEntry(file) }
  const stats = statSync(program)
  if (!stats.isFile()) throw new Error(`${program} is no file`)
  const disabled = existsSync(join(folder, DISABLED))
  return { kind: 'program' as const, file: program, changed: stats.mtimeMs, disabled }
}
