import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import type { Clock } from '../kit/clock.ts'
import { describeError, type Log } from '../kit/log.ts'
import type { Backend } from './game.ts'

/** Milliseconds after a stop in which its end may still be noticed: watchers poll only now and then. */
const NOTICED_WITHIN = 20_000

/** The games that a tool ends, so that their end is not reported as a crash. */
export interface RequestedEnds {
  /** Runs `work`, which stops the game: one end during it, or shortly after, counts as requested. */
  during<Result>(game: string, work: () => Promise<Result>): Promise<Result>
  /** Tells whether the end that was just noticed was requested. True once for each request. */
  take(game: string): boolean
  /** Forgets the request after the game ended as requested, or runs again: the next end is another one. */
  settle(game: string): void
}

export function createRequestedEnds(clock: Clock): RequestedEnds {
  const asked = new Map<string, { until: number }>()
  return {
    async during(game, work) {
      const mark = { until: Number.POSITIVE_INFINITY }
      asked.set(game, mark)
      try {
        return await work()
      } finally {
        mark.until = clock.monotonic() + NOTICED_WITHIN
      }
    },
    settle(game) {
      if (asked.get(game)?.until !== Number.POSITIVE_INFINITY) asked.delete(game)
    },
    take(game) {
      const mark = asked.get(game)
      asked.delete(game)
      return mark !== undefined && clock.monotonic() <= mark.until
    },
  }
}

/**
 * The last requested stop of each game. Some games exit with a failure's code when they are told to stop, and
 * Docker and systemd do not distinguish such an end from a crash.
 */
export interface RequestedStops {
  /** Remembers a stop; `at`: when the game ended, as its backend reports it. */
  remember(game: string, at: number): void
  wasRequested(game: string, at: number | undefined): boolean
}

const stopsFile = z.object({ stops: z.record(z.string(), z.number()) })

/**
 * Opens the store. It writes `file` at every stop, so that a restart of this server forgets none; without a
 * file it keeps them in memory.
 */
export function openRequestedStops(file: string | undefined, log: Log): RequestedStops {
  const stops = new Map(Object.entries(file === undefined ? {} : readStops(file, log)))
  return {
    wasRequested: (game, at) => at !== undefined && stops.get(game) === at,
    remember(game, at) {
      stops.set(game, at)
      if (file === undefined) return
      try {
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
        writeFileSync(`${file}.new`, JSON.stringify({ stops: Object.fromEntries(stops) }), { mode: 0o600 })
        renameSync(`${file}.new`, file)
      } catch (error) {
        log('warn', 'asked stops could not be written', { file, error: describeError(error) })
      }
    },
  }
}

function readStops(file: string, log: Log): Record<string, number> {
  try {
    return stopsFile.parse(JSON.parse(readFileSync(file, 'utf8'))).stops
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!isMissing) log('warn', 'asked stops could not be read', { file, error })
    return {}
  }
}

/** Wraps the backend of a game so that a failed end is a stop if a tool requested it. */
export function withRequestedStops<Of extends Backend>(game: string, backend: Of, stops: RequestedStops): Of {
  return {
    ...backend,
    async state(signal) {
      const state = await backend.state(signal)
      if (state.state !== 'failed' || state.oom || !stops.wasRequested(game, state.stoppedAt)) return state
      return { ...state, state: 'stopped', detail: `${state.detail}, after it was asked to stop` }
    },
    async stop(graceSeconds, signal) {
      const isStopped = await backend.stop(graceSeconds, signal)
      // A stop is done even if the state cannot be read now.
      const ended = isStopped ? await backend.state(signal).catch(() => undefined) : undefined
      if (ended?.stoppedAt !== undefined) stops.remember(game, ended.stoppedAt)
      return isStopped
    },
  }
}
