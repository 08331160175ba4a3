import type { networkInterfaces } from 'node:os'
import { addHosts, toHostsLine } from '../config/host-names.ts'
import type { Config } from '../config/load.ts'
import { decideReach, isAlone } from '../config/reach.ts'
import { describeWritten, readForChange, rewriteConfig } from '../config/rewrite-config.ts'
import type { Hub } from '../hub.ts'

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
  const reached = decideReach({ ...deps, url: hub.url })
  // Another program leads to a hub that listens for its own machine alone.
  if (reached.kind === 'alone' || isAlone(config.host)) return
  if (reached.kind === 'unknown') return print(reached.why)
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
