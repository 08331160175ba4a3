import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, type RealProgram, startReal } from './scratch.ts'

export const TRANSMISSION_USER = { username: 'lab', password: 'secret-word' }

/**
 * Starts Transmission without access beyond this machine; it downloads to and seeds from `downloads` in its
 * folder.
 */
export async function startTransmission(
  options: { downloads?: string } = {},
): Promise<RealProgram & { peerPort: number }> {
  const peerPort = await freePort()
  const { username, password } = TRANSMISSION_USER
  const started = await startReal({
    name: 'transmission',
    prepare({ folder, port }) {
      mkdirSync(join(folder, 'downloads'))
      const settings = {
        'rpc-enabled': true,
        'rpc-bind-address': '127.0.0.1',
        'rpc-port': port,
        'rpc-authentication-required': true,
        'rpc-username': username,
        'rpc-password': password,
        'bind-address-ipv4': '127.0.0.1',
        'peer-port': peerPort,
        'download-dir': options.downloads ?? join(folder, 'downloads'),
        'incomplete-dir-enabled': false,
        'dht-enabled': false,
        'lpd-enabled': false,
        'pex-enabled': false,
        'utp-enabled': false,
        'port-forwarding-enabled': false,
      }
      writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings))
      return { command: 'transmission-daemon', args: ['--foreground', '--config-dir', folder] }
    },
    isReady: async url => (await fetch(`${url}/transmission/rpc`)).status === 401,
  })
  return { ...started, peerPort }
}
