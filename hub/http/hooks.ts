import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import express, { type Request, type RequestHandler } from 'express'
import { UNKNOWN } from '../../schemas/tokens.ts'
import { type HookOutcome, hookName } from '../../schemas/webhooks.ts'
import type { Clock } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import type { DoorAudit } from '../store/door-audit.ts'
import { bearerOf, type Doors, digest, LARGEST_BODY } from './doors.ts'
import { createRoom } from './room.ts'

export interface HookDoorDeps {
  clock: Clock
  doors: Doors
  refuse: DoorAudit['refuse']
  /** Returns the secret that the config gives a hook. */
  secretOf: (hook: string) => string | undefined
  /** Tells whether the operator trusts what a hook's sender writes. */
  isTrusted: (hook: string) => boolean
  /** Tells whether a hook may get one more delivery now. */
  mayPass: (hook: string) => boolean
  /** Takes a delivery; resolves once its events are on the disk. */
  take: (delivery: {
    hook: string
    isTrusted: boolean
    contentType: string | undefined
    id: string | undefined
    body: Buffer
  }) => Promise<HookOutcome[]>
}

/** Headers in which senders identify a delivery; the id is the same for each retry. */
const DELIVERY_IDS = ['idempotency-key', 'x-github-delivery', 'x-gitea-delivery', 'webhook-id']

const HOW = `send "Authorization: Bearer <token>", or with the hook's own secret (webhooks in superbloom.yaml) the same or the body's HMAC-SHA256 in X-Hub-Signature-256`

/** Creates `POST /hooks/<name>`: checks the sender, keeps the body unparsed, answers 202 after the commit. */
export function createHookDoor(deps: HookDoorDeps): RequestHandler[] {
  const room = createRoom(deps.clock, deps.doors.addressOf)
  return [
    (request, response, next) => {
      const hook = readName(request, deps)
      const secret = deps.secretOf(hook)
      const isSigned = secret !== undefined && signatureOf(request) !== undefined
      const isIn = carriesSecret(request, secret) || (!isSigned && admit(deps, request, hook))
      // The parser would read the whole body before it refuses it.
      if (Number(request.headers['content-length']) > LARGEST_BODY)
        throw new HubError('too_large', `The body of POST /hooks/${hook} is over ${LARGEST_BODY} bytes`)
      if (!isIn) room.enter(request, response)
      response.locals['signedWith'] = isIn ? undefined : secret
      next()
    },
    // A signature covers the bytes as they came, so nothing is inflated.
    express.raw({ limit: LARGEST_BODY, type: () => true, inflate: false }),
    async (request, response) => {
      const hook = readName(request, deps)
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const secret = response.locals['signedWith'] as string | undefined
      if (secret !== undefined && !hasRightSignature(request, secret, body))
        throw deps.doors.refusal(request, { ...toEntry(hook), isWrong: true })
      if (!deps.mayPass(hook))
        throw new HubError('rate_limited', `${doorOf(hook)}: too many deliveries at once; slow down.`)
      const events = await deps.take({
        hook,
        isTrusted: deps.isTrusted(hook),
        contentType: request.headers['content-type'],
        // The signature does not cover the id: whoever saw a delivery could resend it under another one. The
        // body's digest is the id instead.
        id: secret === undefined ? readId(request) : `signed ${digest(body).toString('hex')}`,
        body,
      })
      response.status(202).json({ accepted: true, events })
    },
  ]
}

/** Admits the owner, and a token of this webhook; throws for others. */
function admit({ doors, refuse }: HookDoorDeps, request: IncomingMessage, hook: string): boolean {
  const entry = toEntry(hook)
  const { authorization, [SIGNATURE]: signature } = request.headers
  const presented = bearerOf(request) ?? passwordOf(request) ?? authorization ?? signature
  const { role, name } = doors.admit(request, presented?.toString(), entry)
  if (role === 'owner' || name === hook) return true
  const details = { address: doors.addressOf(request) }
  refuse({ kind: 'webhook', actor: name, role, door: entry.door, details })
  throw new HubError('forbidden', `${doorOf(hook)} does not open with the token of the webhook ${name}.`)
}

function readName(request: Request, { doors, refuse }: HookDoorDeps): string {
  const { data, error } = hookName.safeParse(request.params['name'])
  if (data !== undefined) return data
  const details = { address: doors.addressOf(request), why: 'a name that no webhook can have' }
  refuse({ kind: 'webhook', actor: UNKNOWN, door: 'Webhooks at /hooks', details })
  throw new HubError('not_found', `The name of a webhook ${error.issues[0]?.message ?? 'is wrong'}`)
}

function toEntry(hook: string) {
  return { door: doorOf(hook), right: 'hook', how: HOW } as const
}

function doorOf(hook: string): string {
  return `Webhook at /hooks/${hook}`
}

function readId(request: IncomingMessage): string | undefined {
  const name = DELIVERY_IDS.find(each => request.headers[each])
  return name && `${name} ${request.headers[name]}`
}

const SIGNATURE = 'x-hub-signature-256'

/**
 * Tells whether the request carries the hook's own secret: as a bearer, or as a password for senders that
 * know only those.
 */
function carriesSecret(request: IncomingMessage, secret: string | undefined): boolean {
  const given = bearerOf(request) ?? passwordOf(request)
  return secret !== undefined && given !== undefined && timingSafeEqual(digest(given), digest(secret))
}

/** Returns the digits of a well-formed signature, which some body could match. */
function signatureOf(request: IncomingMessage): string | undefined {
  return /^sha256=([0-9a-f]{64})$/i.exec(String(request.headers[SIGNATURE]))?.[1]
}

/** Tells whether the body is signed with the secret: `sha256=<its HMAC in hex>`, as GitHub and others do. */
function hasRightSignature(request: IncomingMessage, secret: string, body: Buffer): boolean {
  const given = signatureOf(request)
  const right = createHmac('sha256', secret).update(body).digest()
  return given !== undefined && timingSafeEqual(Buffer.from(given, 'hex'), right)
}

function passwordOf(request: IncomingMessage): string | undefined {
  const encoded = /^Basic\s+(\S+)\s*$/i.exec(request.headers.authorization ?? '')?.[1]
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : text.slice(colon + 1)
}
