import { lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { Agent, buildConnector, Dispatcher1Wrapper, EnvHttpProxyAgent, getGlobalDispatcher } from 'undici'

/** Networks of the IANA registries of special purposes (RFC 6890) that no public server is in. */
const IPV4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3'
/**
 * The same, and what is not in 2000::/3, the only global unicast there is. Among them are tunnels (Teredo, 6to4)
 * and translators (local NAT64, SIIT), which may lead to any IPv4 address.
 */
const IPV6 =
  '::/96 ::ffff:0:0:0/96 64:ff9b:1::/48 100::/8 200::/7 400::/6 800::/5 1000::/4 2001::/23 2001:db8::/32 2002::/16 3fff::/20 4000::/2 8000::/1'
/** Prefix and length of the addresses by which hosts with IPv6 alone reach IPv4 (NAT64, RFC 6052). */
const NAT64 = { prefix: '64:ff9b::', length: 96 }

const notPublic = createNotPublic()

/** Tells whether an IP address is in no loopback, link-local, private, multicast or other special network. */
export function isPublicAddress(address: string): boolean {
  const kind = isIP(address)
  return kind !== 0 && !notPublic.check(address, kind === 6 ? 'ipv6' : 'ipv4')
}

function createNotPublic(): BlockList {
  // The list itself matches IPv4 addresses that are mapped into IPv6.
  const list = new BlockList()
  for (const network of IPV4.split(' ')) {
    const [address = '', length] = network.split('/')
    list.addSubnet(address, Number(length), 'ipv4')
    list.addSubnet(`${NAT64.prefix}${address}`, NAT64.length + Number(length), 'ipv6')
  }
  for (const network of IPV6.split(' ')) {
    const [address = '', length] = network.split('/')
    list.addSubnet(address, Number(length), 'ipv6')
  }
  return list
}

/** Says that a request to an address which somebody else chose was not sent. */
export class NotPublicError extends Error {
  /** The host as a URL writes it. */
  readonly host: string

  constructor(host: string, address: string) {
    super(`${host} is in a private network (${address})`)
    this.name = 'NotPublicError'
    this.host = host
  }
}

/** The protocol and the host of a URL, as `URL` has them. */
export type Target = Pick<URL, 'protocol' | 'hostname'>

/**
 * Creates a `fetch` for addresses that a server chose. It connects to public addresses, and to the hosts that
 * `isNamed` accepts because the operator named them; otherwise it throws `NotPublicError` before anything is
 * sent. It checks each address that it connects to, so that a name which changes its address gains nothing.
 * A proxy of the environment connects by its own rules.
 */
export function createPublicFetch(
  isNamed: (target: Target) => boolean,
  lookup: LookupFunction = systemLookup,
): typeof fetch {
  const Dispatcher = getGlobalDispatcher() instanceof EnvHttpProxyAgent ? EnvHttpProxyAgent : Agent
  // Without `pipelining` no connection is kept, so that nothing has to be closed.
  const agent = new Dispatcher({ connect: createConnector(isNamed, lookup), pipelining: 0, allowH2: false })
  // Node's own `fetch` speaks with dispatchers of an earlier interface, and its types are of that one.
  const dispatcher = new Dispatcher1Wrapper(agent)
  return async (url, init) => {
    const options: object = { ...init, dispatcher }
    try {
      return await fetch(url, options)
    } catch (error) {
      throw error instanceof Error && error.cause instanceof NotPublicError ? error.cause : error
    }
  }
}

function createConnector(
  isNamed: (target: Target) => boolean,
  lookup: LookupFunction,
): buildConnector.connector {
  const connect = buildConnector({ allowH2: false, lookup })
  const connectToPublic = buildConnector({ allowH2: false, lookup: toPublicLookup(lookup) })
  return (options, done) => {
    const { protocol, hostname } = options
    const kind = isIP(hostname)
    const host = kind === 6 ? `[${hostname}]` : hostname
    if (isNamed({ protocol, hostname: host })) return connect(options, done)
    // An address is not looked up.
    if (kind > 0 && !isPublicAddress(hostname)) return done(new NotPublicError(host, hostname), null)
    connectToPublic(options, done)
  }
}

/** Fails for a name with an address that is not public. */
function toPublicLookup(lookup: LookupFunction): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, options, (error, found, family) => {
      if (error) return done(error, '')
      const addresses = typeof found === 'string' ? [found] : found.map(({ address }) => address)
      const inside = addresses.find(address => !isPublicAddress(address))
      if (inside !== undefined) return done(new NotPublicError(hostname, inside), '')
      done(null, found, family)
    })
  }
}
