import { existsSync, readFileSync } from 'node:fs'
import type { RequestOptions } from 'node:http'
import { join } from 'node:path'
import { describeError } from '../log.ts'
import { UpstreamFailure } from '../upstream/failure.ts'
import type { Send, Sent } from './dial.ts'

/** The address of an engine, parsed. */
export type Place =
  | { kind: 'socket'; path: string }
  | { kind: 'host'; protocol: 'http' | 'https'; host: string; port: string }

/**
 * Parses an address: "/var/run/docker.sock", "unix:///run/podman/podman.sock", "tcp://nas:2375",
 * "https://nas:2376". `tcp` is encrypted if there are certificates or the port is 2376. Undefined for any
 * other text.
 */
export function toPlace(address: string, certificates?: string): Place | undefined {
  const socket = /^(?:unix:\/\/)?(\/.+)$/.exec(address)?.[1]
  if (socket !== undefined) return { kind: 'socket', path: socket }
  if (!URL.canParse(address)) return undefined
  const { protocol, hostname, port, pathname, username, search } = new URL(address)
  if (hostname === '' || username !== '' || search !== '' || !['', '/'].includes(pathname)) return undefined
  const host = hostname.replace(/^\[|\]$/g, '')
  if (protocol === 'http:') return { kind: 'host', protocol: 'http', host, port: port || '80' }
  if (protocol === 'https:') return { kind: 'host', protocol: 'https', host, port: port || '443' }
  if (protocol !== 'tcp:') return undefined
  const encrypted = certificates !== undefined || port === '2376'
  return { kind: 'host', protocol: encrypted ? 'https' : 'http', host, port: port || '2375' }
}

/** Returns the socket's path or a URL, for messages. */
export function toAddressText(place: Place): string {
  if (place.kind === 'socket') return place.path
  const host = place.host.includes(':') ? `[${place.host}]` : place.host
  return `${place.protocol}://${host}:${place.port}`
}

/**
 * Returns a function that sends requests to an engine: `certificates` is a folder with ca.pem, cert.pem and
 * key.pem. Docker's API is plain HTTP over a socket, TCP or TLS.
 */
export async function connect(place: Place, certificates: string | undefined): Promise<Send> {
  const target = { ...toTarget(place), ...readCertificates(certificates) }
  // getBuiltinModule loads the client at the first request; an `import` of node:http would also load all of
  // fetch.
  const isEncrypted = place.kind === 'host' && place.protocol === 'https'
  const { request } = process.getBuiltinModule(isEncrypted ? 'node:https' : 'node:http')
  return ({ method, path, query }, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted()
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      const sent = request({ ...target, method, path: `${path}${toQuery(query)}`, signal })
      sent.on('error', reject)
      sent.on('response', answer => {
        signal.addEventListener('abort', () => answer.destroy(signal.reason), { once: true })
        resolve(answer)
      })
      sent.end()
    })
}

function toTarget(place: Place): RequestOptions {
  if (place.kind === 'socket') return { socketPath: place.path, headers: { Host: 'docker' } }
  return { host: place.host, port: place.port }
}

function toQuery(query: Sent['query']): string {
  const pairs = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) pairs.set(name, String(value))
  return pairs.size > 0 ? `?${pairs}` : ''
}

function readCertificates(folder: string | undefined): { ca?: string; cert?: string; key?: string } {
  if (folder === undefined) return {}
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  try {
    const ca = existsSync(join(folder, 'ca.pem')) ? { ca: read('ca.pem') } : {}
    return { ...ca, cert: read('cert.pem'), key: read('key.pem') }
  } catch (error) {
    throw new UpstreamFailure(
      {
        kind: 'unreachable',
        what: 'The certificates for the container engine could not be read.',
        where: folder,
        why: describeError(error),
        fix: 'DOCKER_CERT_PATH (or ENGINE_…_CERT_PATH) must name a folder with ca.pem, cert.pem and key.pem that this user may read.',
      },
      { cause: error },
    )
  }
}
