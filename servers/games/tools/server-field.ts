import { z } from 'zod'
import { type Access, requireAccess } from '../../kit/access.ts'
import type { Game } from '../game.ts'
import type { Games } from '../games.ts'

const MOST_NAMES = 50
/**
 * Returns the argument that names a game server. The schema lists the names of the config, so that a model
 * need not ask for them; any other text is the name of a game with a label, or a title.
 */
export function serverField({ declared }: Pick<Games, 'declared'>): z.ZodType<string, string> {
  const text = z.string().min(1).max(100)
  const [first, ...others] = declared.slice(0, MOST_NAMES).map(({ name }) => name)
  if (first === undefined) return text.describe('a name or title from list_game_servers')
  return z.union([z.enum([first, ...others]), text])
}

/** Throws a ToolFailure if the game's settings do not allow this. */
export function requireGameAccess(game: Game, needed: Access): void {
  const { name, access } = game
  const limited = { settings: { ACCESS: access }, variables: { ACCESS: `access of ${name}` } }
  requireAccess({ title: `the game server ${name}`, ...limited }, needed)
}
