import { PROVIDER_NAMES } from '../../schemas/providers.ts'
import { HEADER_TEXT, isHeaderText } from '../../schemas/request-parts.ts'
import { HubError } from '../core/errors.ts'
import type { LogLevel } from '../core/log.ts'

/* The functions below read variables' values from text and throw `bad_request` with variable, value and
   what is allowed. */

const LEAST_CONTEXT = 2048

export function toContext(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const context = toWhole(text)
  if (context >= LEAST_CONTEXT) return context
  throw wrong('SUPERBLOOM_MODEL_CONTEXT', text, `not a number of tokens from ${LEAST_CONTEXT} on`)
}

export function toPort(text: string): number {
  const port = toWhole(text)
  if (port <= 65_535) return port
  throw wrong('SUPERBLOOM_PORT', text, 'not a port (0 to 65535; 0 takes any free one)')
}

/** Checks only the form; listening shows whether the address is one of this machine. */
export function toHost(text: string): string {
  if (/^[\w.:%-]+$/.test(text)) return text
  throw wrong('SUPERBLOOM_HOST', text, 'not an address or a name to listen on, such as 127.0.0.1 or 0.0.0.0')
}

export function toHttpUrl(name: string, text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text.replace(/\/+$/, '')
  throw wrong(name, text, 'not an http:// or https:// address')
}

/** Returns the address without a slash at its end, as paths are appended to it. */
export function toPublicUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = toHttpUrl('SUPERBLOOM_PUBLIC_URL', text)
  if (!/[?#]/.test(url)) return url
  throw wrong('SUPERBLOOM_PUBLIC_URL', text, 'not an address without ? and #')
}

/** Returns the address of a PostgreSQL database. The error does not contain it, since a password may be in it. */
export function toStoreUrl(text: string | undefined): string | undefined {
  if (text === undefined || /^postgres(?:ql)?:\/\/[^/?#]+\/[^/?#]+(?:\?[^#]*)?$/.test(text)) return text
  throw new HubError(
    'bad_request',
    'SUPERBLOOM_STORE: not the address of a PostgreSQL database, such as postgres://user:password@host:5432/superbloom',
  )
}

/** Returns a key that a header can carry. The error does not contain the key, which is secret. */
export function toKey(name: string, text: string | undefined): string | undefined {
  if (text === undefined || isHeaderText(text)) return text
  throw new HubError('bad_request', `${name}: ${HEADER_TEXT}`)
}

/**
 * Returns a token that a WebSocket's subprotocol can carry (RFC 9110, token). The error does not contain it.
 */
export function toToken(name: string, text: string | undefined): string | undefined {
  if (text === undefined || /^[A-Za-z0-9._~+-]{16,}$/.test(text)) return text
  throw new HubError(
    'bad_request',
    `${name}: must be at least 16 letters, digits and . _ ~ + -, such as what "openssl rand -hex 24" prints`,
  )
}

export function toModelName(name: string, text: string): string {
  if (/\S/.test(text) && !PROVIDER_NAMES.some(provider => text.trim() === `${provider}/`)) return text
  throw wrong(name, text, 'not <provider>/<model>, or the name of a model')
}

export function toLogLevel(text: string): LogLevel {
  if (text === 'debug' || text === 'info' || text === 'warn' || text === 'error') return text
  throw wrong('LOG_LEVEL', text, 'none of debug, info, warn, error')
}

export function toCrashHold(text: string): boolean {
  if (text === '0' || text === '1') return text === '1'
  throw wrong('SUPERBLOOM_CRASH_HOLD', text, 'neither 0 nor 1')
}

/** Returns NaN for anything but digits: `Number` takes a blank for 0 and 0x10 for 16. */
function toWhole(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN
}

function wrong(name: string, value: string, why: string): HubError {
  return new HubError('bad_request', `${name}: ${value} is ${why}`)
}
