import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import { describeError, type Log } from '../../kit/log.ts'
import type { Backend } from '../game.ts'

/**
 * Which end of a game a tool asked for. Some games end with the code of a failure when they are told to stop, and Docker
 * and systemd do not tell such an end from a crash.
 */
export interface AskedStops {
  /** `at`: when the game ended, as its backend tells it. */
  remember(game: string, at: number): void
  isAsked(game: string, at: number | undefined): boolean
}

const stopsFile = z.object({ stops: z.record(z.string(), z.number()) })

/** `file` is written at every stop, so that a restart of this server forgets none; without it they are kept in memory. */
export function openAskedStops(file: string | undefined, log: Log): AskedStops {
  const stops = new Map(Object.entries(file === undefined ? {} : readStops(file, log)))
  return {
    isAsked: (game, at) => at !== undefined && stops.get(game) === at,
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

/** The backend of a game, whose end is no failure where a tool asked for it. */
export function withAskedStops<Of extends Backend>(game: string, backend: Of, stops: AskedStops): Of {
  return {
    ...backend,
    async state(signal) {
      const state = await backend.state(signal)
      if (state.state !== 'failed' || state.oom || !stops.isAsked(game, state.stoppedAt)) return state
      return { ...state, state: 'stopped', detail: `${state.detail}, after it was asked to stop` }
    },
    async stop(graceSeconds, signal) {
      const isStopped = await backend.stop(graceSeconds, signal)
      // Where the state cannot be read now, the stop is done all the same.
      const ended = isStopped ? await backend.state(signal).catch(() => undefined) : undefined
      if (ended?.stoppedAt !== undefined) stops.remember(game, ended.stoppedAt)
      return isStopped
    },
  }
}
