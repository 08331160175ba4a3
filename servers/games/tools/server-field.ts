import { z } from 'zod'
import { type Access, requireAccess } from '../../kit/access.ts'
import type { Game } from '../game.ts'
import type { Games } from '../games.ts'

const MOST_NAMES = 50
const OTHERS = 'by its name or title as list_game_servers gives it'

/**
 * The argument that every tool of a game server takes. The schema lists the names of the config, so that a model need
 * not ask for them; any other text stands for a game that was found by its label, or for a title.
 */
export function serverField({ declared }: Pick<Games, 'declared'>): z.ZodType<string, string> {
  const text = z.string().min(1).max(100)
  const [first, ...others] = declared.slice(0, MOST_NAMES).map(({ name }) => name)
  if (first === undefined) return text.describe(`the game server, ${OTHERS}`)
  const titles = declared
    .slice(0, MOST_NAMES)
    .flatMap(({ name, title }) => (title === name ? [] : [`${name} is ${title}`]))
  const about = ['the game server, or another', OTHERS].join(' ')
  return z.union([z.enum([first, ...others]), text]).describe([about, ...titles].join('; '))
}

/** Throws a ToolFailure where the game's settings do not allow this. */
export function requireGameAccess(game: Game, needed: Access): void {
  requireAccess(
    { name: game.name, settings: { ACCESS: game.access }, variables: { ACCESS: `access of ${game.name}` } },
    needed,
    'the game server',
  )
}
