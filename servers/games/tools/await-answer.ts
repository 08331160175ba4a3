import { type Clock, sleep, withLimit } from '../../kit/clock.ts'
import { ToolFailure } from '../../kit/failure.ts'
import type { Report } from '../../kit/progress.ts'
import { cleanText, quote, toSpanText } from '../../kit/text.ts'
import { type BackendState, type Game, type GameStatus, isRunning } from '../game.ts'
import { readPresence } from './presence.ts'
import { toEndText } from './state-text.ts'

const STEP = 1000
const QUERY_LIMIT = 3000
const LOG_LIMIT = 3000
const LAST_LINES = 5
/** Milliseconds that a game without a query must run, and that a backend gets to follow a request. */
const SETTLED = 3000

/** The outcome of a start. */
export type Started =
  | { kind: 'answers'; status: GameStatus; milliseconds: number }
  /** The game has no query, and runs; its health check passed if it has one. */
  | { kind: 'runs'; milliseconds: number }
  /** The game runs, but has not answered in time. */
  | { kind: 'silent'; why: string; milliseconds: number }

/** Returns the output fields about a start. */
export function toStartedFields(started: Started) {
  return {
    seconds: started.milliseconds / 1000,
    answers: started.kind === 'runs' ? undefined : started.kind === 'answers',
    problem: started.kind === 'silent' ? started.why : undefined,
  }
}

export interface Waiting {
  clock: Clock
  signal: AbortSignal
  report: Report
  /** Seconds that were reported before this wait. */
  reported?: number
}

/**
 * Waits until a game that was just started answers, `startSeconds` at most. Throws ToolFailure if it ends
 * instead, with its exit code and last lines. `before`: its state when the start was requested.
 */
export async function awaitAnswer(game: Game, before: BackendState, waiting: Waiting): Promise<Started> {
  const { clock, signal, report, reported = 0 } = waiting
  const begin = clock.monotonic()
  const passed = () => clock.monotonic() - begin
  let why = 'it is still starting'
  let wasUp = false
  let fewest = before.restarts
  while (passed() < game.startSeconds * 1000) {
    const state = await game.backend.state(signal)
    const isUp = isRunning(state)
    wasUp ||= isUp
    const isSettled = wasUp || passed() > SETTLED || state.stoppedAt !== before.stoppedAt
    const isLooping = (state.restarts ?? 0) > (fewest ?? 0)
    // Restarts are counted from the last manual start, so the number may become smaller.
    fewest = state.restarts
    if ((!isUp && isSettled) || isLooping) throw await toEnded(game, state, waiting, passed())
    const seen = isUp ? await check(game, state, waiting, passed()) : undefined
    if (seen?.started) return seen.started
    why = seen?.why ?? why
    const seconds = Math.floor(passed() / 1000)
    report(
      reported + seconds,
      reported + game.startSeconds,
      `${game.name} is starting for ${toSpanText(seconds)}`,
    )
    await sleep(clock, STEP, signal)
  }
  return { kind: 'silent', why, milliseconds: passed() }
}

async function check(
  game: Game,
  state: BackendState,
  { clock, signal }: Waiting,
  milliseconds: number,
): Promise<{ started?: Started; why?: string }> {
  const presence = await readPresence(game, QUERY_LIMIT, clock, signal)
  switch (presence.kind) {
    case 'answers':
      return { started: { kind: 'answers', status: presence.status, milliseconds } }
    case 'silent':
      return { why: presence.why }
    case 'unasked': {
      const isReady = state.state === 'running' && state.health !== 'starting' && milliseconds >= SETTLED
      return isReady ? { started: { kind: 'runs', milliseconds } } : { why: cleanText(state.detail) }
    }
    default:
      return presence satisfies never
  }
}

async function toEnded(
  game: Game,
  state: BackendState,
  { clock, signal }: Waiting,
  milliseconds: number,
): Promise<ToolFailure> {
  const { name, backend } = game
  const lines = await withLimit(inner => backend.logs(LAST_LINES, inner), LOG_LIMIT, clock, signal).catch(
    () => {
      signal.throwIfAborted()
      return []
    },
  )
  const told = lines.filter(line => line.trim() !== '').map(line => quote(line, 200))
  const isUp = isRunning(state)
  return new ToolFailure({
    what: `${name} ended ${toSpanText(milliseconds / 1000)} after its start.${isUp ? ' It is started again and again by itself.' : ''}`,
    where: backend.where,
    why: [
      isUp ? cleanText(state.detail) : toEndText(state),
      ...(told.length > 0 ? [`its last lines: ${told.join('; ')}`] : ['its log is empty']),
    ].join('; '),
    fix: 'Mend what its last lines complain about; get_game_server_logs shows more of them, diagnose_game_server looks for causes.',
  })
}
