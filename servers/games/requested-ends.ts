import { z } from 'zod'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import { readState, writeState } from '../kit/state-file.ts'
import type { Backend } from './game.ts'

/** Milliseconds after a stop in which its end may still be noticed: watchers poll only now and then. */
const NOTICED_WITHIN = 20_000

export type RequestedEnds = ReturnType<typeof createRequestedEnds>

/** Creates the memory of games that a tool ends, so that their end is not reported as a crash. */
export function createRequestedEnds(clock: Clock) {
  const asked = new Map<string, { until: number }>()
  return {
    /** Runs `work`, which stops the game: one end during it, or shortly after, counts as requested. */
    async during<Result>(game: string, work: () => Promise<Result>): Promise<Result> {
      const mark = { until: Number.POSITIVE_INFINITY }
      asked.set(game, mark)
      try {
        return await work()
      } finally {
        mark.until = clock.monotonic() + NOTICED_WITHIN
      }
    },
    /** Forgets the request after the game ended as requested, or runs again: the next end is another one. */
    settle(game: string): void {
      if (asked.get(game)?.until !== Number.POSITIVE_INFINITY) asked.delete(game)
    },
    /** Tells whether the end that was just noticed was requested. True once for each request. */
    take(game: string): boolean {
      const mark = asked.get(game)
      asked.delete(game)
      return mark !== undefined && clock.monotonic() <= mark.until
    },
  }
}

const stopsFile = z.object({ stops: z.record(z.string(), z.number()) })

export type RequestedStops = ReturnType<typeof openRequestedStops>

/**
 * Opens the memory of the last requested stop of each game. Some games exit with a failure's code when they
 * are told to stop, and Docker and systemd do not distinguish such an end from a crash. `file` is written at
 * every stop, so that a restart of this server forgets none; without it they are kept in memory.
 */
export function openRequestedStops(file: string | undefined, log: Log) {
  const stops = new Map(Object.entries(readState(file, stopsFile, log)?.stops ?? {}))
  return {
    wasRequested: (game: string, at: number | undefined) => at !== undefined && stops.get(game) === at,
    /** Remembers a stop; `at`: when the game ended, as its backend reports it. */
    remember(game: string, at: number) {
      stops.set(game, at)
      writeState(file, { stops: Object.fromEntries(stops) }, log)
    },
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
