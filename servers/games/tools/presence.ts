import type { Clock } from '../../kit/clock.ts'
import { toFailure } from '../../kit/failure.ts'
import { cleanText, quote, toCountText } from '../../kit/text.ts'
import { bounded } from '../bounded.ts'
import type { Game, GameStatus } from '../game.ts'

const MOST_NAMES = 20

/** A game's answer about itself, or the reason why there is none. */
export type Presence =
  | { kind: 'answers'; status: GameStatus }
  | { kind: 'silent'; why: string }
  /** The game has no query in its settings. */
  | { kind: 'unasked' }

/** Asks the game who plays. Rejects only when the signal aborts. */
export async function readPresence(
  game: Game,
  milliseconds: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<Presence> {
  const { query } = game
  if (!query) return { kind: 'unasked' }
  try {
    return { kind: 'answers', status: await bounded(inner => query.ask(inner), milliseconds, clock, signal) }
  } catch (error) {
    signal.throwIfAborted()
    const { why } = toFailure(error, query.where)
    return { kind: 'silent', why: cleanText(`${query.where}: ${why}`, 300) }
  }
}

/** Returns "3 of 20 players: "Ann", "Bob"", "1 player, 2 bots", "nobody plays". */
export function toPlayersText({ players, maxPlayers, bots, names }: GameStatus): string {
  const count =
    players === 0
      ? 'nobody plays'
      : maxPlayers === undefined
        ? toCountText(players, 'player')
        : `${players} of ${toCountText(maxPlayers, 'player')}`
  const extra = bots > 0 ? `, ${toCountText(bots, 'bot')}` : ''
  const who = names !== undefined && names.length > 0 ? `: ${toNamesText(names)}` : ''
  return `${count}${who}${extra}`
}

function toNamesText(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map(name => quote(name, 40))
  const more = names.length - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
