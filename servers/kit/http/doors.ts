import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import {
  localhostAllowedHostnames,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server'

export const MCP_PATH = '/mcp'
const METHODS = ['POST', 'GET', 'DELETE']

export interface DoorRules {
  token: string
  /** Host names besides the loopback ones that `Host` and `Origin` may contain, without ports. */
  hosts: readonly string[]
}

export type DoorDecision =
  | { kind: 'pass' }
  /** `details`: true if the request has the token, so the answer may contain details. */
  | { kind: 'health'; details: boolean }
  | { kind: 'refuse'; status: number; message: string; headers?: Record<string, string> }

/**
 * Decides about a request before its body is read: the health check always passes, the rest needs a known
 * Host, a known Origin and the token.
 */
export function decideDoor(request: IncomingMessage, rules: DoorRules): DoorDecision {
  const { method = '', url = '/', headers } = request
  const path = url.split('?', 1)[0]
  const hosts = [...localhostAllowedHostnames(), ...rules.hosts]
  const isHost = validateHostHeader(headers.host, hosts).ok
  const isAllowed = hasToken(headers.authorization, rules.token)
  if (path === '/healthz') {
    if (method !== 'GET' && method !== 'HEAD') return refuseMethod('GET, HEAD')
    return { kind: 'health', details: isAllowed && isHost }
  }
  if (!isHost) return refuse(403, toHostMessage('Host'))
  if (!validateOriginHeader(headers.origin, hosts).ok) return refuse(403, toHostMessage('Origin'))
  if (!isAllowed) {
    return refuse(401, 'This door needs the token: send "Authorization: Bearer <token>".', {
      'www-authenticate': 'Bearer',
    })
  }
  if (path !== MCP_PATH) return refuse(404, `There is nothing here; the MCP endpoint is ${MCP_PATH}.`)
  return METHODS.includes(method) ? { kind: 'pass' } : refuseMethod(METHODS.join(', '))
}

function hasToken(authorization: string | undefined, token: string): boolean {
  const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
  return given !== undefined && timingSafeEqual(toDigest(given), toDigest(token))
}

/**
 * Hashes a text: digests have equal length, so the time of the comparison does not even show the token's
 * length.
 */
function toDigest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function toHostMessage(header: string): string {
  return `${header} names a host that is not allowed here; add it to the allowed hosts, or use localhost.`
}

function refuseMethod(allow: string): DoorDecision {
  return refuse(405, `Use ${allow} here.`, { allow })
}

function refuse(status: number, message: string, headers: Record<string, string> = {}): DoorDecision {
  return { kind: 'refuse', status, message, headers }
}
