import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import { createBuckets } from './rate-limit.ts'

/** Bytes of the largest body that any endpoint takes. */
export const LARGEST_BODY = 1024 * 1024

/** The admitted caller of a request. */
export interface Caller {
  /** Name of the token. */
  token: string
}

export interface Doors {
  /** Throws `forbidden` for a Host or an Origin that is not the hub's (DNS rebinding, foreign pages). */
  checkNames(request: IncomingMessage): void
  /**
   * Returns the caller. Throws `unauthorized`, or `rate_limited` after many wrong tokens; the right token is
   * always admitted.
   */
  admit(request: IncomingMessage, presented: string | undefined, door: string): Caller
  /** Tells whether this is the hub's token. */
  isToken(presented: string | undefined): boolean
  /** Returns the error to throw for a refused request, as `admit` does. */
  refusal(request: IncomingMessage, refused: Refused): HubError
}

interface Refused {
  door: string
  /** Whether the request presented something, and that was wrong. */
  isWrong: boolean
  /** Instruction for getting in. */
  how: string
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']
const HOW = 'send "Authorization: Bearer <token>"'
/** Wrong tokens that one address may send: 10 at once, then one in 6 s. */
const WRONG_TOKENS = { perSecond: 1 / 6, burst: 10 }

export interface DoorsOptions {
  clock: Clock
  token: string
  /** Hint for callers without a token: the place where this hub's token is kept. */
  tokenHint: string
  /** Hostnames besides the loopback ones. */
  hosts: () => readonly string[]
}

export function createDoors(options: DoorsOptions): Doors {
  const isOurs = (hostname: string) =>
    LOOPBACK.includes(hostname) || options.hosts().some(host => host.toLowerCase() === hostname)
  const right = Buffer.from(options.token)
  const mayBeWrong = createBuckets(WRONG_TOKENS)
  const isToken = (presented: string | undefined) => {
    if (presented === undefined) return false
    const given = Buffer.from(presented)
    return given.length === right.length && timingSafeEqual(given, right)
  }
  const refusal = (request: IncomingMessage, { door, isWrong, how }: Refused) => {
    const address = request.socket.remoteAddress ?? 'unknown'
    if (isWrong && !mayBeWrong(address, options.clock.monotonic())) {
      return new HubError('rate_limited', `${door}: too many wrong tokens from ${address}; wait a minute.`)
    }
    const problem = isWrong ? 'does not take this token' : 'needs the token'
    return new HubError('unauthorized', `${door} ${problem}: ${how}. ${options.tokenHint}`)
  }
  return {
    checkNames(request) {
      const host = request.headers.host
      if (host === undefined || !isOurs(toHostname(`http://${host}`))) {
        throw forbidden('Host', host, 'hosts in superbloom.yaml, or set SUPERBLOOM_PUBLIC_URL')
      }
      const { origin } = request.headers
      if (origin !== undefined && !isOurs(toHostname(origin))) {
        throw forbidden('Origin', origin, 'hosts in superbloom.yaml')
      }
    },
    admit(request, presented, door) {
      if (isToken(presented)) return { token: 'owner' }
      throw refusal(request, { door, isWrong: presented !== undefined, how: HOW })
    },
    isToken,
    refusal,
  }
}

function forbidden(header: string, value: string | undefined, where: string): HubError {
  return new HubError(
    'forbidden',
    `${header} "${value ?? ''}" is none of this hub's names. If it should be one, add it to ${where}.`,
  )
}

function toHostname(url: string): string {
  return URL.parse(url)?.hostname.toLowerCase() ?? ''
}

/** Returns a digest, whose length is equal for every text, so that two can be compared in constant time. */
export function digest(data: string | Buffer): Buffer {
  return hash('sha256', data, 'buffer')
}

/** Returns the token of an Authorization header. */
export function bearerOf(request: IncomingMessage): string | undefined {
  return /^Bearer\s+(\S+)\s*$/i.exec(request.headers.authorization ?? '')?.[1]
}

const PROTOCOL = 'superbloom.v1'

/** Returns the token of a WebSocket: of its header, or of its second subprotocol, as browsers send it. */
export function webSocketTokenOf(request: IncomingMessage): string | undefined {
  const protocols = (request.headers['sec-websocket-protocol'] ?? '').split(',').map(part => part.trim())
  const carried = protocols.find(protocol => protocol.startsWith('bearer.'))?.slice('bearer.'.length)
  return bearerOf(request) ?? (protocols.includes(PROTOCOL) ? carried : undefined)
}
