import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import type { Log } from '../kit/log.ts'

/** A timed pause of a client that has no timed pauses of its own. */
const timedPause = z.object({
  /** Unix milliseconds. */
  until: z.number(),
  /** The ids that it paused; only these are resumed. */
  ids: z.array(z.string()),
})
export type TimedPause = z.infer<typeof timedPause>

/** A file or address that was sent to a client which would add it again. */
const addition = z.object({
  /** Unix milliseconds of the request. */
  at: z.number(),
  /** The id of its job; absent while it is unknown whether the request arrived. */
  id: z.string().optional(),
  /** The jobs that existed before the request, as long as `id` is absent. */
  before: z.array(z.string()).optional(),
})
export type Addition = z.infer<typeof addition>

const stateFile = z.object({
  pauses: z.record(z.string(), timedPause).default({}),
  added: z.record(z.string(), addition).default({}),
})

/** The state that this server keeps over its restarts. */
export interface State {
  /** Timed pauses by client. */
  readonly pauses: Map<string, TimedPause>
  /** Additions by the hash of their file or address, oldest first. */
  readonly added: Map<string, Addition>
  /** Writes both; call it after every change. Returns whether they survive a restart of this server. */
  save(): boolean
}

/** Reads `file`. Without it, or if it cannot be written, the state is kept in memory only. */
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

/** Writes the file completely or not at all, by a rename. */
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
