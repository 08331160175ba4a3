import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { Watcher } from '../kit/server.ts'
import type { NamedClient } from './clients/clients.ts'

const EVERY = 1000

/** A pause that ends by itself, of a client that has no such thing. */
const timedPause = z.object({
  /** Unix milliseconds. */
  until: z.number(),
  /** What it paused: only these go on. */
  ids: z.array(z.string()),
})
export type TimedPause = z.infer<typeof timedPause>

const stateFile = z.object({ pauses: z.record(z.string(), timedPause).default({}) })

/** The timed pauses of clients without a timer of their own, by client. */
export interface TimedPauses {
  get(client: string): TimedPause | undefined
  /** Ends any earlier one of the client. Resolves with whether a restart of this server will not lose it. */
  set(client: string, pause: TimedPause): boolean
  clear(client: string): void
  /** Goes on with each client when its pause is over; a client that cannot be reached then is tried again. */
  watchers(clients: readonly NamedClient[]): Watcher[]
}

/** `file` is read now and written at every change; without it, or where that fails, pauses live in memory only. */
export function openTimedPauses(file: string | undefined, clock: Clock, log: Log): TimedPauses {
  const pauses = new Map(Object.entries(file === undefined ? {} : read(file, log)))
  const save = () => file !== undefined && write(file, Object.fromEntries(pauses), log)
  const resume = async ({ name, client }: NamedClient) => {
    const pause = pauses.get(name)
    if (!pause || clock.now() < pause.until) return
    await client.resumeAll({ only: pause.ids })
    if (pauses.get(name) !== pause) return
    pauses.delete(name)
    save()
    log('info', 'timed pause is over', { client: name })
  }
  return {
    get: client => pauses.get(client),
    set(client, pause) {
      pauses.set(client, pause)
      return save()
    },
    clear(client) {
      if (pauses.delete(client)) save()
    },
    watchers: clients =>
      clients
        .filter(({ client }) => !client.ownTimer)
        .map(named => ({ name: `timed pause of ${named.name}`, every: EVERY, poll: () => resume(named) })),
  }
}

function read(file: string, log: Log): Record<string, TimedPause> {
  try {
    return stateFile.parse(JSON.parse(readFileSync(file, 'utf8'))).pauses
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!isMissing) log('warn', 'timed pauses could not be read', { file, error })
    return {}
  }
}

/** Whole or not at all: a rename. */
function write(file: string, pauses: Record<string, TimedPause>, log: Log): boolean {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(`${file}.new`, JSON.stringify({ pauses }), { mode: 0o600 })
    renameSync(`${file}.new`, file)
    return true
  } catch (error) {
    log('warn', 'timed pauses could not be written', { file, error })
    return false
  }
}
