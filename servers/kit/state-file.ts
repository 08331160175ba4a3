import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { z } from 'zod'
import type { Environment } from './env.ts'
import type { Log } from './log.ts'

/**
 * Finds a server's state file: in the data folder, else in the state folder of the XDG base directory specification;
 * undefined without a home.
 */
export function findStateFile(
  name: string,
  { SUPERBLOOM_DATA, XDG_STATE_HOME, HOME }: Environment,
): string | undefined {
  if (SUPERBLOOM_DATA) return resolve(SUPERBLOOM_DATA, name)
  const folder = XDG_STATE_HOME || (HOME && join(HOME, '.local/state'))
  return folder ? join(folder, 'superbloom', name) : undefined
}

/** Reads what a server wrote of its state; undefined without a file, and after logging that it is damaged. */
export function readState<Schema extends z.ZodType>(
  file: string | undefined,
  schema: Schema,
  log: Log,
): z.output<Schema> | undefined {
  if (file === undefined) return undefined
  try {
    return schema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!isMissing) log('warn', 'state could not be read', { file, error })
    return undefined
  }
}

/** Writes the file completely or not at all, by a rename. Tells whether it did; without a file it did not. */
export function writeState(file: string | undefined, value: unknown, log: Log): boolean {
  if (file === undefined) return false
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(`${file}.new`, JSON.stringify(value), { mode: 0o600 })
    renameSync(`${file}.new`, file)
    return true
  } catch (error) {
    log('warn', 'state could not be written', { file, error })
    return false
  }
}
