import { z } from 'zod'
import { type Access, requireAccess } from '../../kit/access.ts'
import type { Game } from '../game.ts'

/** The argument that every tool of a game server takes. */
export const serverField = z.string().min(1).max(100).describe('its name or title')

/** Throws a ToolFailure where the game's settings do not allow this. */
export function requireGameAccess(game: Game, needed: Access): void {
  requireAccess(
    { name: game.name, settings: { ACCESS: game.access }, variables: { ACCESS: `access of ${game.name}` } },
    needed,
    'the game server',
  )
}
