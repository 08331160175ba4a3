import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

/** Returns the address of who sends a request. */
export type AddressOf = (request: IncomingMessage) => string

/**
 * Creates the reader of addresses. A trusted proxy appends who asked it to `X-Forwarded-For`; whatever stands
 * before that could be anybody's invention.
 */
export function createAddressOf(trustedProxies: () => readonly string[]): AddressOf {
  return ({ socket, headers }) => {
    let address = socket.remoteAddress ?? 'unknown'
    const proxies = toList(trustedProxies())
    const hops = String(headers['x-forwarded-for'] ?? '').split(',')
    while (has(proxies, address)) {
      const hop = hops.pop()?.trim() ?? ''
      if (isIP(hop) === 0) break
      address = hop
    }
    return address
  }
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
