import type { Clock } from '../../kit/clock.ts'
import { bounded } from '../bounded.ts'
import type { Game, GameStatus, Query } from '../game.ts'

/** Milliseconds to ask a backend whether a game runs at all. */
const STATE_LIMIT = 5000

/**
 * What a game answers, or undefined where it does not run: then its silence is not waited for. Rejects as the query
 * does where it runs, or where its backend cannot be asked either.
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
    const { state } = await bounded(within => backend.state(within), STATE_LIMIT, clock, signal)
    return state === 'stopped' || state === 'failed' || state === 'missing'
  } catch {
    // A backend that cannot be asked does not say that the game is stopped.
    return false
  }
}
