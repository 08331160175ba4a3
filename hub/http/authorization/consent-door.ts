import express, { type Request, type RequestHandler, type Response, Router } from 'express'
import { z } from 'zod'
import { HubError, toPublicError } from '../../core/errors.ts'
import { isLoopback } from '../../core/loopback.ts'
import { stripUnseen } from '../../core/text.ts'
import type { Doors } from '../doors.ts'
import { escapeHtml, STYLE_SOURCE, toHtmlPage } from '../html-page.ts'
import type { Tokens } from '../tokens.ts'
import type { OwnIssuer } from './own-issuer.ts'

/** The only scope: what a token opens follows from its role. */
export const SCOPE = 'mcp'

export interface ConsentDoorDeps {
  doors: Doors
  tokens: Pick<Tokens, 'addGrant'>
  own: () => Promise<OwnIssuer>
  /** Throws `rate_limited` for an address that asks too often. */
  limit: (request: Request) => void
  isOn: () => boolean
}

const ENTRY = {
  door: 'Sign-in of programs at /oauth/consent',
  right: 'admin',
  how: "enter the owner's token",
} as const

/** Matches what may stand in the page's policy; a URL's host may have a semicolon too. */
const HOST = /^[\w.:[\]-]+$/
const answer = z.object({ decision: z.enum(['allow', 'deny']), token: z.string().default('') })

/**
 * Creates the page on which the owner lets a program in: `GET /oauth/consent/<uid>` asks, `POST` answers with the
 * owner's token. It works only in the browser that the program's request came from.
 */
export function createConsentDoor({ doors, tokens, own, limit, isOn }: ConsentDoorDeps): RequestHandler {
  const router = Router()
  router.get('/oauth/consent/:uid', async (request, response, next) => {
    if (!isOn()) return next()
    limit(request)
    showPage(response, await readAsked(await own(), request, response))
  })
  const body = express.urlencoded({ extended: false, limit: '16kb' })
  router.post('/oauth/consent/:uid', body, async (request, response, next) => {
    if (!isOn()) return next()
    limit(request)
    const issuer = await own()
    const asked = await readAsked(issuer, request, response)
    const { data } = answer.safeParse(request.body ?? {})
    if (!data) throw new HubError('bad_request', 'The form needs one decision: allow or deny.')
    const { decision, token } = data
    try {
      const result = decision === 'deny' ? DENIED : await allow(issuer, asked, request, token)
      await issuer.provider.interactionFinished(request, response, result)
    } catch (error) {
      if (!(error instanceof HubError)) throw error
      showPage(response, asked, error)
    }
  })
  return router

  async function allow({ provider }: OwnIssuer, asked: Asked, request: Request, token: string) {
    const { name: accountId } = doors.admit(request, token || undefined, ENTRY)
    const grant = new provider.Grant({ accountId, clientId: asked.clientId })
    grant.addOIDCScope(SCOPE)
    for (const resource of asked.resources) grant.addResourceScope(resource, SCOPE)
    const grantId = await grant.save()
    await tokens.addGrant(grantId, asked.name, accountId)
    return { login: { accountId }, consent: { grantId } }
  }
}

const DENIED = { error: 'access_denied', error_description: 'The owner of this hub said no' }

/** What a program asks for. */
interface Asked {
  clientId: string
  /** Name that the program gives itself. */
  name: string
  redirect: URL
  resources: string[]
}

/** Reads what the program in this browser asks for. Throws `bad_request` where nothing is asked here. */
async function readAsked({ provider }: OwnIssuer, request: Request, response: Response): Promise<Asked> {
  const { uid, params } = await provider.interactionDetails(request, response).catch(error => {
    const why = 'This browser is not asked anything here, or no longer: begin again in the program.'
    throw new HubError('bad_request', why, { cause: error })
  })
  const clientId = String(params['client_id'])
  const client = uid === request.params['uid'] ? await provider.Client.find(clientId) : undefined
  const redirect = URL.parse(String(params['redirect_uri']))
  if (!client || !redirect) throw new HubError('bad_request', 'The program that asked is gone; begin again.')
  if (redirect.protocol === 'http:' && !isLoopback(redirect.hostname))
    throw new HubError('bad_request', `${redirect.origin} is not https, so a stranger could read the answer.`)
  if (isWeb(redirect) && !HOST.test(redirect.host))
    throw new HubError('bad_request', `The program's answer goes to ${redirect.host}, which names no host.`)
  const { resource } = params
  return {
    clientId,
    name:
      stripUnseen(client.clientName ?? '')
        .slice(0, 60)
        .trim() || 'client',
    redirect,
    resources: [resource].flat().map(String),
  }
}

function isWeb({ protocol }: URL): boolean {
  return protocol === 'https:' || protocol === 'http:'
}

function showPage(
  response: Response,
  { clientId, name, redirect, resources }: Asked,
  error?: HubError,
): void {
  const target = isWeb(redirect) ? redirect.origin : redirect.protocol
  const known = clientId.startsWith('https://')
    ? `the program of ${new URL(clientId).host}`
    : 'a program that chose this name; nobody checked it'
  // The name has a row of its own, so that none can look like what the hub knows.
  const rows = [
    ['It calls itself', name],
    ['It is', known],
    ['Your answer goes to', isWeb(redirect) ? redirect.host : target],
    ['It wants to use', resources.join(', ')],
    ['Then it may', 'use all tools, talk with all agents and read what they did, until you revoke it'],
  ]
  const list = rows.map(([term = '', text = '']) => `<dt>${term}<dd>${escapeHtml(text)}`).join('')
  const problem = error ? `<p role="alert">${escapeHtml(toPublicError(error).message)}</p>` : ''
  // After a wrong token the person chooses another one.
  const script = error ? '' : '<script type="module" src="/consent.js"></script>'
  const form = `<form method="post"><label>The owner's token <input name="token" type="password" autocomplete="off"></label><button name="decision" value="allow">Allow</button><button name="decision" value="deny">Deny</button></form>`
  response
    .status(error?.status ?? 200)
    .set({
      'Cache-Control': 'no-store',
      // A form's answer may redirect to the program, which browsers count as where the form goes.
      'Content-Security-Policy': `default-src 'none'; script-src 'self'; style-src ${STYLE_SOURCE}; form-action 'self' ${target}; base-uri 'none'; frame-ancestors 'none'`,
      'X-Frame-Options': 'DENY',
      // With "no-referrer" browsers would send the form with the Origin "null".
      'Referrer-Policy': 'same-origin',
    })
    .type('html')
    .send(toHtmlPage('A program wants to sign in', `${problem}<dl>${list}</dl>${form}${script}`))
}
