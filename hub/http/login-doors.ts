import express, { type Request, type RequestHandler, Router } from 'express'
import { z } from 'zod'
import { name as serverName } from '../../schemas/names.ts'
import { HUB, UNKNOWN } from '../../schemas/tokens.ts'
import { HubError, toPublicError } from '../core/errors.ts'
import type { DoorAudit } from '../store/door-audit.ts'
import { bearerOf, type Doors } from './doors.ts'
import { escapeHtml, TEXT_POLICY, toHtmlPage } from './html-page.ts'

export interface LoginDoorDeps {
  doors: Doors
  audit: DoorAudit
  /** Returns the https address at which browsers reach the hub, if there is one. */
  publicUrl: () => string | undefined
  logins: {
    /** Starts a login. Throws a `HubError` that says why nobody can log in. */
    begin: (server: string, redirectUrl: string) => Promise<{ state: string; url: string }>
    /** Completes a login; resolves with the server's name. Throws a `HubError` that says why it failed. */
    finish: (answer: URLSearchParams) => Promise<string>
    look: (state: string) => { status: string; error?: string }
    forget: (server: string) => Promise<boolean>
  }
}

type By = Pick<Parameters<DoorAudit['add']>[0], 'kind' | 'actor' | 'role' | 'door'>

const DOOR = 'Logins at /oauth'
const CALLBACK = '/oauth/callback'

/**
 * Creates the endpoints for logging in at servers: `POST /oauth/logins` starts a login, `GET
 * /oauth/logins/<state>` tells its outcome, `DELETE /oauth/servers/<name>` forgets one, all with the token.
 * Browsers come back to `GET /oauth/callback`, with the state alone.
 */
export function createLoginDoors({ doors, audit, publicUrl, logins }: LoginDoorDeps): RequestHandler {
  const router = Router()
  router.use('/oauth', (_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store')
    next()
  })
  router.get(CALLBACK, async (request, response) => {
    response.setHeader('Content-Security-Policy', TEXT_POLICY)
    try {
      const server = await logins.finish(queryOf(request))
      await audit.add({ kind: 'login', actor: HUB, door: DOOR, outcome: 'ok', details: { server } })
      response
        .type('html')
        .send(
          toHtmlPage(
            'Logged in',
            `<p>The hub may use ${escapeHtml(server)} now. You can close this page.</p>`,
          ),
        )
    } catch (error) {
      const { code, status, message } = toPublicError(error)
      audit.refuse({ kind: 'login', actor: UNKNOWN, door: DOOR, details: { why: code } })
      response
        .status(status)
        .type('html')
        .send(toHtmlPage('Not logged in', `<p>${escapeHtml(message)}</p>`))
    }
  })
  const admit: RequestHandler = (request, response, next) => {
    const { name, role } = doors.admit(request, bearerOf(request), { door: DOOR, right: 'admin' })
    response.locals['by'] = { kind: 'login', actor: name, role, door: DOOR } satisfies By
    next()
  }
  router.post('/oauth/logins', admit, express.json(), async (request, response) => {
    const redirectUrl = `${toBase(request, publicUrl())}${CALLBACK}`
    const by = response.locals['by'] as By
    const server = readServer(request.body)
    const begun = await logins.begin(server, redirectUrl).catch(error => {
      audit.refuse({ ...by, details: { server, why: toPublicError(error).code } })
      throw error
    })
    await audit.add({ ...by, outcome: 'begun', details: { server } })
    response.status(201).json({ ...begun, redirectUrl })
  })
  router.get('/oauth/logins/:state', admit, (request, response) => {
    response.json(logins.look(String(request.params['state'])))
  })
  router.delete('/oauth/servers/:server', admit, async (request, response) => {
    const server = readServer(request.params)
    await audit.add({ ...(response.locals['by'] as By), outcome: 'ended', details: { server } })
    response.json({ forgotten: await logins.forget(server) })
  })
  return router
}

const asked = z.object({ server: serverName })

function readServer(given: unknown): string {
  const { data, error } = asked.safeParse(given)
  if (data) return data.server
  throw new HubError(
    'bad_request',
    `${DOOR}: the name of a server ${error.issues[0]?.message ?? 'is missing'}`,
  )
}

/**
 * Returns the base of the redirect URL. Authorization servers send browsers to https, or to the machine that
 * the browser runs on (RFC 8252, 7.3).
 */
function toBase({ socket }: Request, publicUrl: string | undefined): string {
  if (publicUrl?.startsWith('https:')) return publicUrl
  return `${'encrypted' in socket ? 'https' : 'http'}://127.0.0.1:${socket.localPort}`
}

function queryOf({ url }: Request): URLSearchParams {
  return new URL(url, 'http://hub').searchParams
}
