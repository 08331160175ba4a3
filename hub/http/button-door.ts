import express, { type Request, type RequestHandler, type Response, Router } from 'express'
import { z } from 'zod'
import { type Approval, decisions } from '../../schemas/chat.ts'
import { HubError } from '../core/errors.ts'
import type { Doors } from './doors.ts'

export interface ButtonDoorDeps {
  doors: Pick<Doors, 'refusal'>
  buttons: {
    /** Returns the id of the approval that a key answers; undefined for a key that does not work. */
    find(key: string): Promise<string | undefined>
    /** Decides; undefined if it is decided or over already. */
    press(approval: string, decision: Answer['decision']): Promise<Approval | undefined>
  }
}

const DOOR = 'Buttons at /a'
const GONE = 'This button does not work any more: what it asked was answered, or its time is over.'
const LARGEST_ANSWER = 1_000

const answer = z.object({ decision: z.enum(decisions) })
type Answer = z.infer<typeof answer>

/** Tells whether a path is that of a button. The pages of apps that show buttons send an Origin of their own. */
export function isForButton(path: string): boolean {
  return /^\/a\//i.test(path)
}

/** Returns a path as the log may have it: without the key of a button. */
export function toLoggedPath(path: string | undefined): string | undefined {
  return path !== undefined && isForButton(path) ? '/a/***' : path
}

/**
 * Creates `POST /a/<key>`, by which a notification's button answers one approval. The key in the path is the only
 * credential. Other methods decide nothing, because programs that preview links use them.
 */
export function createButtonDoor({ doors, buttons }: ButtonDoorDeps): RequestHandler {
  const router = Router()
  const gone = (request: Request) => {
    const refused = doors.refusal(request, { door: DOOR, right: 'admin', isWrong: true, how: '' })
    return refused.code === 'rate_limited' ? refused : new HubError('not_found', GONE)
  }
  const findKey: RequestHandler = async (request, response, next) => {
    // The page of ntfy reads the answer from its own origin. There is nothing here that a cookie would open.
    response.setHeader('Access-Control-Allow-Origin', '*')
    response.setHeader('Cache-Control', 'no-store')
    const approval = await buttons.find(String(request.params['key']))
    if (approval === undefined) throw gone(request)
    response.locals['approval'] = approval
    next()
  }
  const press = async (request: Request, response: Response) => {
    const { data } = answer.safeParse(request.body)
    if (!data)
      throw new HubError('bad_request', `${DOOR}: send {"decision":"approve"} or {"decision":"deny"}`)
    const decided = await buttons.press(String(response.locals['approval']), data.decision)
    if (!decided) throw gone(request)
    response.type('text').send(`${decided.tool} is ${decided.status}.\n`)
  }
  router.post('/a/:key', findKey, express.json({ type: () => true, limit: LARGEST_ANSWER }), press)
  router.all('/a/:key', (_request, response) => {
    response.status(405).setHeader('Allow', 'POST')
    response.type('text').send('This address answers an approval when a button sends a POST to it.\n')
  })
  return router
}
