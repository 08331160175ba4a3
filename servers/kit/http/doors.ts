import { createHash, timingSafeEqual } from 'node:crypto'
import {
  localhostAllowedHostnames,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server'

export const MCP_PATH = '/mcp'
const METHODS = ['POST', 'GET', 'DELETE']

/** The parts of a request that are checked before its body is read. */
export interface Knock {
  method: string
  path: string
  host: string | undefined
  origin: string | undefined
  authorization: string | undefined
}

export interface DoorRules {
  token: string
  /** Host names besides the loopback ones that `Host` and `Origin` may contain, without ports. */
  hosts: readonly string[]
}

export type DoorDecision =
  | { kind: 'pass' }
  /** `details`: true if the request has the token, so the answer may contain details. */
  | { kind: 'health'; details: boolean }
  | { kind: 'refuse'; status: number; message: string; headers: Record<string, string> }

/**
 * Decides about a request: the health check always passes, the rest needs a known Host, a known Origin and
 * the token.
 */
export function decideDoor(knock: Knock, rules: DoorRules): DoorDecision {
  const hosts = [...localhostAllowedHostnames(), ...rules.hosts]
  if (knock.path === '/healthz') {
    const details = hasToken(knock.authorization, rules.token) && validateHostHeader(knock.host, hosts).ok
    return knock.method === 'GET' || knock.method === 'HEAD'
      ? { kind: 'health', details }
      : refuseMethod('GET, HEAD')
  }
  if (!validateHostHeader(knock.host, hosts).ok) return refuse(403, toHostMessage('Host'))
  if (!validateOriginHeader(knock.origin, hosts).ok) return refuse(403, toHostMessage('Origin'))
  if (!hasToken(knock.authorization, rules.token)) {
    return refuse(401, 'This door needs the token: send "Authorization: Bearer <token>".', {
      'www-authenticate': 'Bearer',
    })
  }
  if (knock.path !== MCP_PATH) return refuse(404, `There is nothing here; the MCP endpoint is ${MCP_PATH}.`)
  return METHODS.includes(knock.method) ? { kind: 'pass' } : refuseMethod(METHODS.join(', '))
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
