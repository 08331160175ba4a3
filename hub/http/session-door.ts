import { type RequestHandler, Router } from 'express'
import { HubError } from '../core/errors.ts'
import { bearerOf, type Doors } from './doors.ts'
import type { Tokens } from './tokens.ts'

export interface SessionDoorDeps {
  doors: Doors
  tokens: Pick<Tokens, 'signIn' | 'signOut'>
}

const ENTRY = {
  door: 'Sign-in at /session',
  right: 'session',
  how: 'send "Authorization: Bearer <token>" with a person\'s token, or the one of a sign-in link',
} as const

/**
 * Creates `POST /session`, which exchanges a person's token or a link's for a session's token, and `DELETE
 * /session`, which ends the session of the token that it is sent with.
 */
export function createSessionDoor({ doors, tokens }: SessionDoorDeps): RequestHandler {
  const router = Router()
  router.post('/session', async (request, response) => {
    const presented = bearerOf(request)
    const made = presented === undefined ? undefined : await tokens.signIn(presented)
    if (!made) {
      // This throws for what opens nothing, as a link that was used.
      doors.admit(request, presented, ENTRY)
      throw new HubError(
        'conflict',
        `${ENTRY.door}: this token is a session already, or ended at this moment.`,
      )
    }
    const { secret, expiresAt, principal } = made
    const { name, role } = principal
    response.setHeader('Cache-Control', 'no-store')
    response.status(201).json({ token: secret, name, role, expiresAt })
  })
  router.delete('/session', async (request, response) => {
    const principal = doors.admit(request, bearerOf(request), ENTRY)
    if (!(await tokens.signOut(principal)))
      throw new HubError('bad_request', `${ENTRY.door}: this token is no session's.`)
    response.status(204).end()
  })
  return router
}
