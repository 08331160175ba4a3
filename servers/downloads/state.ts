import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import type { Log } from '../kit/log.ts'

/** A pause that ends by itself, of a client that has no such thing. */
const timedPause = z.object({
  /** Unix milliseconds. */
  until: z.number(),
  /** What it paused: only these go on. */
  ids: z.array(z.string()),
})
export type TimedPause = z.infer<typeof timedPause>

/** A file or an address that was given to a client which adds the same one again. */
const addition = z.object({
  /** Unix milliseconds of the request. */
  at: z.number(),
  /** The job that it became; absent while nobody knows whether the request arrived. */
  id: z.string().optional(),
  /** The jobs that were there before the request, as long as `id` is absent. */
  before: z.array(z.string()).optional(),
})
export type Addition = z.infer<typeof addition>

const stateFile = z.object({
  pauses: z.record(z.string(), timedPause).default({}),
  added: z.record(z.string(), addition).default({}),
})

/** What this server remembers over its restarts. */
export interface State {
  /** By client. */
  readonly pauses: Map<string, TimedPause>
  /** By the hash of what was given, the oldest first. */
  readonly added: Map<string, Addition>
  /** Writes both; to be called after every change. Gives whether a restart of this server will not lose them. */
  save(): boolean
}

/** `file` is read now; without it, or where it cannot be written, everything is kept in memory only. */
export function openState(file: string | undefined, log: Log): State {
  const read = file === undefined ? {} : readState(file, log)
  const pauses = new Map(Object.entries(read.pauses ?? {}))
  const added = new Map(Object.entries(read.added ?? {}))
  return {
    pauses,
    added,
    save() {
      if (file === undefined) return false
      const text = JSON.stringify({
        pauses: Object.fromEntries(pauses),
        ...(added.size > 0 ? { added: Object.fromEntries(added) } : {}),
      })
      return writeState(file, text, log)
    },
  }
}

function readState(file: string, log: Log): Partial<z.infer<typeof stateFile>> {
  try {
    return stateFile.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!isMissing) log('warn', 'state of downloads could not be read', { file, error })
    return {}
  }
}

/** Whole or not at all: a rename. */
function writeState(file: string, text: string, log: Log): boolean {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(`${file}.new`, text, { mode: 0o600 })
    renameSync(`${file}.new`, file)
    return true
  } catch (error) {
    log('warn', 'state of downloads could not be written', { file, error })
    return false
  }
}
