import type { Clock } from '../../kit/clock.ts'
import { withLimit } from '../../kit/clock.ts'
import type { Game, GameStatus, Query } from '../game.ts'

/** Milliseconds to check with a backend whether a game runs at all. */
const STATE_LIMIT = 5000

/**
 * Returns a game's answer, or undefined if it does not run: then it does not wait for the query's limit.
 * Rejects as the query does if the game runs, or if its backend does not answer either.
 */
export async function askRunning(
  game: Game,
  query: Query,
  clock: Clock,
  signal: AbortSignal,
): Promise<GameStatus | undefined> {
  const over = new AbortController()
  const stopped = isStopped(game, clock, signal).then(is => {
    if (is) over.abort()
    return is
  })
  try {
    return await query.ask(AbortSignal.any([signal, over.signal]))
  } catch (error) {
    signal.throwIfAborted()
    if (await stopped) return undefined
    throw error
  }
}

async function isStopped({ backend }: Game, clock: Clock, signal: AbortSignal): Promise<boolean> {
  try {
    const { state } = await withLimit(within => backend.state(within), STATE_LIMIT, clock, signal)
    return state === 'stopped' || state === 'failed' || state === 'missing'
  } catch {
    // A backend that does not answer does not say that the game is stopped.
    return false
  }
}
