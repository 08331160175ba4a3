import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { bearerOf, digest } from './doors.ts'

const SIGNATURE = 'x-hub-signature-256'

/**
 * Tells whether the request carries the hook's own secret: as a bearer, or as a password for senders that
 * know only those.
 */
export function carriesSecret(request: IncomingMessage, secret: string | undefined): boolean {
  const given = bearerOf(request) ?? passwordOf(request)
  return secret !== undefined && given !== undefined && timingSafeEqual(digest(given), digest(secret))
}

/** Tells whether the request carries any credential. */
export function carriesAnything(request: IncomingMessage): boolean {
  return request.headers.authorization !== undefined || isSigned(request)
}

function isSigned(request: IncomingMessage): boolean {
  return request.headers[SIGNATURE] !== undefined
}

/** Tells whether the request has a well-formed signature, which some body could match. */
export function mayBeSigned(request: IncomingMessage): boolean {
  return signatureOf(request) !== undefined
}

function signatureOf(request: IncomingMessage): string | undefined {
  return /^sha256=([0-9a-f]{64})$/i.exec(String(request.headers[SIGNATURE]))?.[1]
}

/** Tells whether the body is signed with the secret: `sha256=<its HMAC in hex>`, as GitHub and others do. */
export function hasRightSignature(request: IncomingMessage, secret: string, body: Buffer): boolean {
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
