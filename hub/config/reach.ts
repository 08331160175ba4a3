import { BlockList, isIP } from 'node:net'
import type { networkInterfaces } from 'node:os'
import type { Reach } from '../../schemas/reach.ts'
import { isLoopback } from '../core/loopback.ts'
import type { Config } from './load.ts'

/** Matches interfaces that lead only to containers and virtual machines of the same machine. */
const INNER =
  /^(docker\d|br-[0-9a-f]{12}$|veth|virbr|vnet|podman|cni|flannel|cali|lxcbr|lxdbr|incusbr|vmnet|vboxnet|vEthernet)/
const EVERYWHERE = ['0.0.0.0', '::']

const HOME = createList('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16')
const LINK_LOCAL = createList('169.254.0.0/16')

/** Returns the IPv4 addresses at which other devices reach this machine, those of private networks first. */
export function findAddresses(interfaces: ReturnType<typeof networkInterfaces>): string[] {
  const found = Object.entries(interfaces).flatMap(([name, addresses = []]) =>
    INNER.test(name)
      ? []
      : addresses
          .filter(({ family, internal }) => family === 'IPv4' && !internal)
          .map(({ address }) => address),
  )
  const outside = found.filter(address => !LINK_LOCAL.check(address))
  return [...outside.filter(isAtHome), ...outside.filter(address => !isAtHome(address))]
}

function isAtHome(address: string): boolean {
  return HOME.check(address)
}

function createList(...networks: string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', length] = network.split('/')
    list.addSubnet(address, Number(length))
  }
  return list
}

export interface ReachFacts {
  /** Address that the hub listens on. */
  url: string
  config: Pick<Config, 'host' | 'hosts' | 'publicUrl'>
  interfaces: ReturnType<typeof networkInterfaces>
  inContainer: boolean
}

/** Decides at which addresses other devices reach the hub, and which of their names it refuses so far. */
export function decideReach({
  url,
  config: { host, hosts, publicUrl },
  interfaces,
  inContainer,
}: ReachFacts): Reach {
  const isPublic = publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname)
  if (isPublic) return { kind: 'reached', urls: [publicUrl], refused: [] }
  if (isAlone(host)) return { kind: 'alone' }
  const name = inUrl(host)
  const { port, protocol } = new URL(url)
  if (!EVERYWHERE.includes(host))
    return { kind: 'reached', urls: [`${protocol}//${name}:${port}`], refused: [] }
  if (inContainer)
    return {
      kind: 'unknown',
      why: 'A container does not know the addresses of its machine: name the one that other devices use under hosts in superbloom.yaml.',
    }
  const addresses = findAddresses(interfaces)
  if (addresses.length === 0) return { kind: 'unknown', why: 'This machine has no address in a network yet.' }
  // An address among `hosts` may be one that the machine had before; a name stays.
  const known = [
    ...addresses.filter(address => hosts.includes(address)),
    ...hosts.filter(each => !isIP(each)),
  ]
  const toUrls = (names: readonly string[]) => names.map(each => `${protocol}//${each}:${port}`)
  return known.length > 0
    ? { kind: 'reached', urls: toUrls(known), refused: [] }
    : { kind: 'reached', urls: toUrls(addresses), refused: addresses }
}

/** Tells whether a hub that listens on a host is reached from its own machine alone. */
export function isAlone(host: string): boolean {
  return isLoopback(inUrl(host)) || host.startsWith('127.')
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
