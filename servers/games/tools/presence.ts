import type { Clock } from '../../kit/clock.ts'
import { withLimit } from '../../kit/clock.ts'
import { toFailure } from '../../kit/failure.ts'
import { toFacts, toListText } from '../../kit/render.ts'
import { cleanText, quote, toCountText } from '../../kit/text.ts'
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
    return {
      kind: 'answers',
      status: await withLimit(inner => query.ask(inner), milliseconds, clock, signal),
    }
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
  const who = names?.length ? `: ${toListText(names, MOST_NAMES, name => quote(name, 40))}` : ''
  return toFacts([`${count}${who}`, bots > 0 && toCountText(bots, 'bot')])
}

/** Returns the output fields about the players; empty if they are not known. */
export function toPlayersFields(presence: Presence, mostNames = 100) {
  if (presence.kind !== 'answers') return {}
  const { players, maxPlayers, bots, names } = presence.status
  return { players, maxPlayers, bots, names: names?.slice(0, mostNames) }
}

/** Returns whether the game answers; undefined if it cannot be asked. */
export function toAnswers({ kind }: Presence): boolean | undefined {
  return kind === 'unasked' ? undefined : kind === 'answers'
}
