import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, SocketAddress } from 'node:net'

/** Returns the address of who sends a request. */
export type AddressOf = (request: IncomingMessage) => string

/**
 * Creates the reader of addresses. A trusted proxy appends who asked it to `X-Forwarded-For`; whatever stands
 * before that could be anybody's invention.
 */
export function createAddressOf(trustedProxies: () => readonly string[]): AddressOf {
  return ({ socket, headers }) => {
    let address = toAddress(socket.remoteAddress ?? '') ?? 'unknown'
    const proxies = toList(trustedProxies())
    const hops = String(headers['x-forwarded-for'] ?? '').split(',')
    while (has(proxies, address)) {
      const hop = toAddress(hops.pop()?.trim() ?? '')
      if (hop === undefined) break
      address = hop
    }
    return address
  }
}

/**
 * Returns the network by which limits count senders: whoever has one address of IPv6 has the 2^64 of its network
 * (RFC 6177). An address of IPv4 is counted by itself.
 */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = [], tail = []] = address.split('::').map(half => half.split(':').filter(Boolean))
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0')
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(':')}::/64`
}

/**
 * Returns the one spelling of an address, without the port that some proxies write after it. IPv4 within IPv6 is
 * IPv4. Undefined for a text that is no address.
 */
function toAddress(text: string): string | undefined {
  const bare = /^(?:\[(.*)\]|([\d.]+))(?::\d+)?$/.exec(text)
  const address = bare?.[1] ?? bare?.[2] ?? text
  if (isIP(address) === 0) return undefined
  return new SocketAddress({ address, family: toFamily(address) }).address.replace(/^::ffff:(?=\d+\.)/, '')
}

function toList(addresses: readonly string[]): BlockList {
  const list = new BlockList()
  for (const address of addresses) {
    const [base = '', bits] = address.split('/')
    const family = toFamily(base)
    list.addSubnet(base, bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits), family)
  }
  return list
}

function has(list: BlockList, address: string): boolean {
  return isIP(address) !== 0 && list.check(address, toFamily(address))
}

function toFamily(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6'
}
