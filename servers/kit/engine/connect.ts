import { existsSync, readFileSync } from 'node:fs'
import type { IncomingMessage, RequestOptions } from 'node:http'
import { join } from 'node:path'
import { describeError } from '../log.ts'
import { UpstreamFailure } from '../upstream/failure.ts'
import type { Send } from './dial.ts'

/** Where an engine is. */
export type Place =
  | { kind: 'socket'; path: string }
  | { kind: 'host'; protocol: 'http' | 'https'; host: string; port: string }

/**
 * The place that an address names: "/var/run/docker.sock", "unix:///run/podman/podman.sock", "tcp://nas:2375", "https://nas:2376".
 * `tcp` is encrypted where there are certificates or the port is 2376. Undefined for any other text.
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

/** For messages: the socket's path, or a URL. */
export function toAddressText(place: Place): string {
  if (place.kind === 'socket') return place.path
  const host = place.host.includes(':') ? `[${place.host}]` : place.host
  return `${place.protocol}://${host}:${place.port}`
}

/** The part of dockerode that makes up requests for sockets, TCP and TLS. */
interface Modem {
  dial(
    request: {
      path: string
      method: string
      isStream: true
      statusCodes: object
      abortSignal: AbortSignal
      options: { _query: object; _body: object }
    },
    callback: Answered,
  ): void
  buildRequest(options: RequestOptions, context: object, data: string | undefined, callback: Answered): void
}
type Answered = (error: Error | null, answer: IncomingMessage | null) => void

/** Loads dockerode. `certificates` is a folder with ca.pem, cert.pem and key.pem. */
export async function connect(place: Place, certificates: string | undefined): Promise<Send> {
  const modem = await openModem(place, certificates)
  return (sent, abortSignal) =>
    new Promise((resolve, reject) => {
      abortSignal.throwIfAborted()
      abortSignal.addEventListener('abort', () => reject(abortSignal.reason), { once: true })
      const { method, path, query } = sent
      // With the question mark it puts the query there, and so none of it into the body.
      const options = { _query: query, _body: {} }
      modem.dial(
        { path: `${path}?`, method, isStream: true, statusCodes: {}, abortSignal, options },
        (error, answer) => {
          if (answer === null) return reject(error)
          abortSignal.addEventListener('abort', () => answer.destroy(abortSignal.reason), { once: true })
          resolve(answer)
        },
      )
    })
}

async function openModem(place: Place, certificates: string | undefined): Promise<Modem> {
  const { default: Docker } = await import('dockerode')
  // What is not given here is taken from DOCKER_… variables of this process, so all of it is given.
  const none = { host: undefined, port: undefined, socketPath: undefined, timeout: undefined, headers: {} }
  const options =
    place.kind === 'socket'
      ? { ...none, socketPath: place.path, protocol: 'http' as const }
      : { ...none, ...readCertificates(certificates), ...place, pathPrefix: '/' }
  const { ca, cert, key } = options as { ca?: string; cert?: string; key?: string }
  const docker = new Docker({ ...options, ca, cert, key } as ConstructorParameters<typeof Docker>[0])
  const modem = docker.modem as unknown as Modem
  // Node's own clients take eight megabytes, which a server without an engine does not need.
  const isEncrypted = place.kind === 'host' && place.protocol === 'https'
  const { request } = isEncrypted ? await import('node:https') : await import('node:http')
  // Its own way follows redirects with requests whose errors nobody catches, and waits forever for an answer torn off.
  modem.buildRequest = (given, _context, data, callback) => {
    const sent = request(given)
    sent.on('response', answer => callback(null, answer)).on('error', error => callback(error, null))
    sent.end(data)
  }
  return modem
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
