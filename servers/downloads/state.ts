import { z } from 'zod'
import type { Log } from '../kit/log.ts'
import { readState, writeState } from '../kit/state-file.ts'

/** A timed pause of a client that has no timed pauses of its own. */
const timedPause = z.object({
  /** Unix milliseconds. */
  until: z.number(),
  /** The ids that it paused; only these are resumed. */
  ids: z.array(z.string()),
})
export type TimedPause = z.infer<typeof timedPause>

const stateFile = z.object({
  pauses: z.record(z.string(), timedPause).default({}),
  added: z.record(z.string(), z.object({ id: z.string().optional() })).default({}),
})

export type State = ReturnType<typeof openState>

/** Opens the state that this server keeps over its restarts. Without a file it is kept in memory only. */
export function openState(file: string | undefined, log: Log) {
  const read = readState(file, stateFile, log)
  const pauses = new Map(Object.entries(read?.pauses ?? {}))
  const added = new Map(Object.entries(read?.added ?? {}))
  return {
    /** Timed pauses by client. */
    pauses,
    /** The jobs of files and addresses that were added to SABnzbd, by their hash, oldest first. */
    added,
    /** Writes both; call it after every change. Returns whether they survive a restart of this server. */
    save() {
      const value = { pauses: Object.fromEntries(pauses), added: Object.fromEntries(added) }
      return writeState(file, value, log)
    },
  }
}
