import { ECDH } from 'node:crypto'
import express, { type Request, type RequestHandler, Router } from 'express'
import { describeProblems } from '../../schemas/problems.ts'
import { type PushSubscription, pushSubscription } from '../../schemas/push.ts'
import { HubError } from '../core/errors.ts'
import { bearerOf, type Doors } from './doors.ts'

export interface PushDoorDeps {
  doors: Pick<Doors, 'admit'>
  push: {
    /** Returns the key that browsers subscribe with, and why nothing is sent to them, if so. */
    state(): Promise<{ publicKey: string; problem?: string }>
    /** Takes the browser of a session; false if the token is no session's. */
    add(token: string, subscription: PushSubscription): Promise<boolean>
    remove(token: string): Promise<void>
    /** Sends a message to the browser of a session; throws why it cannot. */
    test(token: string): Promise<void>
  }
}

const DOOR = 'Notifications at /session/push'
const PATH = '/session/push'
const LARGEST = 10_000

/**
 * Creates the door of notifications in the browser: a session of the owner's reads the hub's key, leaves its browser's
 * subscription, has it tested, and takes it back.
 */
export function createPushDoor({ doors, push }: PushDoorDeps): RequestHandler {
  const router = Router()
  // Notifications are the owner's alone.
  const idOf = (request: Request) =>
    doors.admit(request, bearerOf(request), { door: DOOR, right: 'admin' }).id
  router.get(PATH, async (request, response) => {
    idOf(request)
    response.setHeader('Cache-Control', 'no-store')
    response.json(await push.state())
  })
  router.put(PATH, express.json({ limit: LARGEST }), async (request, response) => {
    const id = idOf(request)
    const { data, error } = pushSubscription.safeParse(request.body)
    if (!data) throw new HubError('bad_request', `${DOOR}: ${describeProblems(error, 'the subscription')}`)
    checkPoint(data.keys.p256dh)
    if (!(await push.add(id, data)))
      throw new HubError('bad_request', `${DOOR}: this token is no session's: sign in on the page first.`)
    response.status(204).end()
  })
  router.post(PATH, async (request, response) => {
    await push.test(idOf(request))
    response.status(204).end()
  })
  router.delete(PATH, async (request, response) => {
    await push.remove(idOf(request))
    response.status(204).end()
  })
  return router
}

/** Throws `bad_request` for a key with which nothing can be encrypted. */
function checkPoint(key: string): void {
  try {
    ECDH.convertKey(key, 'prime256v1', 'base64url')
  } catch (error) {
    throw new HubError('bad_request', `${DOOR}: keys.p256dh is no point of P-256`, { cause: error })
  }
}
