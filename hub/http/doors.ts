import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { UNKNOWN } from '../../schemas/tokens.ts'
import type { Clock } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import { isLoopback } from '../core/loopback.ts'
import { may, type Principal, type Right } from '../core/principal.ts'
import { createBuckets } from '../core/rate-limit.ts'
import type { DoorAudit } from '../store/door-audit.ts'
import { type AddressOf, networkOf } from './address.ts'

/** Bytes of the largest body that any endpoint takes. */
export const LARGEST_BODY = 1024 * 1024

export interface Doors {
  /** Throws `forbidden` for a Host or an Origin that is not the hub's (DNS rebinding, foreign pages). */
  checkNames(request: IncomingMessage): void
  /** Throws `forbidden` for a Host that is not the hub's. */
  checkHost(request: IncomingMessage): void
  /**
   * Returns who sends a request. Throws `unauthorized`, or `rate_limited` after many wrong tokens; a right token
   * is always admitted. Throws `forbidden` for a right token whose role does not have the right.
   */
  admit(request: IncomingMessage, presented: string | undefined, entry: Entry): Principal
  /** Returns the error to throw for a refused request, as `admit` does. */
  refusal(request: IncomingMessage, refused: Refused): HubError
  addressOf: AddressOf
}

/** A request enters a door, which takes a right. */
export interface Entry {
  door: string
  right: Right
  /** Instruction for getting in; default: to send a bearer token. */
  how?: string
  /** An access token of OAuth was checked before, and is this principal's. */
  principal?: Principal
}

interface Refused extends Pick<Entry, 'door' | 'right'> {
  /** Whether the request presented something, and that was wrong. */
  isWrong: boolean
  /** Instruction for getting in. */
  how: string
}

const MORE =
  'The owner makes others with "superbloom tokens create", and lets people in with "superbloom people add".'
const HOW = 'send "Authorization: Bearer <token>"'
/** Wrong tokens that one address, or one network of IPv6, may send: 10 at once, then one in 6 s. */
const WRONG_TOKENS = { perSecond: 1 / 6, burst: 10 }

export interface DoorsOptions {
  clock: Clock
  /** Returns who holds a token; undefined for one that opens nothing. */
  find: (token: string) => Principal | undefined
  /** Hint for callers without a token: the place where this hub's token is kept. */
  tokenHint: string
  /** Records wrong tokens that are not limited, right ones at the wrong door, and whatever a webhook refuses. */
  refuse: DoorAudit['refuse']
  /** Hostnames besides the loopback ones. */
  hosts: () => readonly string[]
  addressOf: AddressOf
}

export function createDoors(options: DoorsOptions): Doors {
  const { addressOf } = options
  const isOurs = (hostname: string) =>
    isLoopback(hostname) || options.hosts().some(host => host.toLowerCase() === hostname)
  const mayBeWrong = createBuckets(WRONG_TOKENS)
  const note = (request: IncomingMessage, { door, right }: Pick<Entry, 'door' | 'right'>, by?: Principal) => {
    const kind = right === 'hook' ? 'webhook' : 'sign_in'
    const details = { address: addressOf(request) }
    options.refuse({ kind, actor: by?.name ?? UNKNOWN, role: by?.role, door, details })
  }
  const refusal = (request: IncomingMessage, { door, right, isWrong, how }: Refused) => {
    const address = addressOf(request)
    if (isWrong && !mayBeWrong(networkOf(address), options.clock.monotonic())) {
      return new HubError('rate_limited', `${door}: too many wrong tokens from ${address}; wait a minute.`)
    }
    // Programs find out by a request without a token how to sign in; senders of webhooks do not.
    if (isWrong || right === 'hook') note(request, { door, right })
    const problem = isWrong ? 'does not take this token' : 'needs the token'
    return new HubError('unauthorized', `${door} ${problem}: ${how}. ${options.tokenHint}`)
  }
  const checkHost = ({ headers: { host } }: IncomingMessage) => {
    const hostname = toHostname(`http://${host}`)
    if (host === undefined || !isOurs(hostname)) throw new ForeignHost(host ?? '', hostname)
  }
  return {
    checkHost,
    checkNames(request) {
      checkHost(request)
      const { origin } = request.headers
      if (origin !== undefined && !isOurs(toHostname(origin))) {
        throw new HubError('forbidden', describeForeign('Origin', origin, 'hosts in superbloom.yaml'))
      }
    },
    admit(request, presented, { door, right, how = HOW, principal: known }) {
      const principal = known ?? (presented === undefined ? undefined : options.find(presented))
      if (!principal) throw refusal(request, { door, right, isWrong: presented !== undefined, how })
      if (may(principal, right)) return principal
      note(request, { door, right }, principal)
      throw new HubError(
        'forbidden',
        `${door} does not open with ${principal.name}'s token: its role is ${principal.role}. ${MORE}`,
      )
    },
    refusal,
    addressOf,
  }
}

/** Says that a request came under a name that is none of the hub's. `hostname` is '' where `host` has none. */
export class ForeignHost extends HubError {
  readonly host: string
  readonly hostname: string

  constructor(host: string, hostname: string) {
    const where = 'hosts in superbloom.yaml, or set SUPERBLOOM_PUBLIC_URL'
    super('forbidden', describeForeign('Host', host, where))
    this.host = host
    this.hostname = hostname
  }
}

function describeForeign(header: string, value: string, where: string): string {
  return `${header} "${value}" is none of this hub's names. If it should be one, add it to ${where}.`
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
