import { BlockList, isIP } from 'node:net'
import type { networkInterfaces } from 'node:os'
import { addHosts, toHostsLine } from '../config/host-names.ts'
import type { Config } from '../config/load.ts'
import { describeWritten, readForChange, rewriteConfig } from '../config/rewrite-config.ts'
import { isLoopback } from '../core/loopback.ts'
import type { Hub } from '../hub.ts'

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

export interface NetworkDeps {
  hub: Pick<Hub, 'url' | 'makeLinkToken'>
  config: Pick<Config, 'host' | 'hosts' | 'publicUrl'>
  configFile: string
  interfaces: ReturnType<typeof networkInterfaces>
  inContainer: boolean
  /** Asks the person at the terminal; undefined where there is none. */
  ask: ((question: string) => Promise<string>) | undefined
  print: (text: string) => void
}

/**
 * Says how other devices reach a hub that listens for them. On a terminal it offers to let their addresses in, and
 * shows a code with which a phone signs in once.
 */
export async function tellNetwork(deps: NetworkDeps): Promise<void> {
  const { hub, ask, print, config } = deps
  const reached = decideReach(deps)
  if (!reached) return
  if ('why' in reached) return print(reached.why)
  const { urls, refused } = reached
  print(`From other devices: ${urls.join(' or ')}`)
  if (refused.length > 0 && !(await letIn(deps, refused))) return
  const [url] = urls
  if (!ask || url === undefined) return
  const link = `${url}/#token=${await hub.makeLinkToken()}`
  print(
    `A phone signs in as you with this code, once and within ten minutes:\n\n${await toCode(link)}\n\n${link}`,
  )
  if (config.publicUrl === undefined && url.startsWith('http:'))
    print('Over http nothing is encrypted: everybody in this network could read along.')
}

/** Decides at which addresses the hub is reached, and which of their names it refuses so far. */
function decideReach({
  hub,
  config: { host, hosts, publicUrl },
  interfaces,
  inContainer,
}: NetworkDeps): { urls: string[]; refused: string[] } | { why: string } | undefined {
  const name = host.includes(':') ? `[${host}]` : host
  if (isLoopback(name) || host.startsWith('127.')) return undefined
  if (publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname))
    return { urls: [publicUrl], refused: [] }
  const { port, protocol } = new URL(hub.url)
  if (!EVERYWHERE.includes(host)) return { urls: [`${protocol}//${name}:${port}`], refused: [] }
  if (inContainer)
    return {
      why: 'A container does not know the addresses of its machine: name the one that other devices use under hosts in superbloom.yaml.',
    }
  const addresses = findAddresses(interfaces)
  if (addresses.length === 0) return { why: 'This machine has no address in a network yet.' }
  // An address among `hosts` may be one that the machine had before; a name stays.
  const known = [
    ...addresses.filter(address => hosts.includes(address)),
    ...hosts.filter(each => !isIP(each)),
  ]
  const toUrls = (names: readonly string[]) => names.map(each => `${protocol}//${each}:${port}`)
  return known.length > 0
    ? { urls: toUrls(known), refused: [] }
    : { urls: toUrls(addresses), refused: addresses }
}

/** Lets names in after a yes; false where the hub still refuses them. */
async function letIn({ configFile, ask, print }: NetworkDeps, names: readonly string[]): Promise<boolean> {
  const line = toHostsLine(names)
  print('The hub refuses requests there until superbloom.yaml names these addresses.')
  const isWanted = /^y(es)?$/i.test(((await ask?.(`Write ${line} into ${configFile}? [y/N] `)) ?? '').trim())
  if (!isWanted) {
    print(`To let them in, write into ${configFile}: ${line}`)
    return false
  }
  const before = readForChange(configFile)
  const written = rewriteConfig(configFile, before, addHosts({ file: configFile, text: before }, names))
  print(`Written into ${describeWritten(written)}.`)
  return true
}

/** Returns a QR code whose modules are black on white whatever the terminal's colours are. */
async function toCode(text: string): Promise<string> {
  const { renderUnicodeCompact } = await import('uqr')
  const lines = renderUnicodeCompact(text, { border: 2 }).split('\n')
  return lines.map(line => `\u001b[97;40m${line}\u001b[0m`).join('\n')
}
