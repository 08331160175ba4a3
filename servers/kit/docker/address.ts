import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeError } from '../log.ts'
import { UpstreamFailure } from '../upstream/failure.ts'

/** The address of an engine, parsed. */
export interface Place {
  /** A socket's path or a URL, for messages. */
  address: string
  url: string
  socketPath?: string | undefined
}

/**
 * Parses an address: "/var/run/docker.sock", "unix:///run/podman/podman.sock", "tcp://nas:2375",
 * "https://nas:2376". `tcp` is encrypted if there are certificates or the port is 2376. Undefined for any
 * other text.
 */
export function toPlace(address: string, certificates?: string): Place | undefined {
  const socketPath = /^(?:unix:\/\/)?(\/.+)$/.exec(address)?.[1]
  if (socketPath !== undefined) return { address: socketPath, url: 'http://docker', socketPath }
  if (!URL.canParse(address)) return undefined
  const { protocol, hostname, port, pathname, username, search } = new URL(address)
  if (hostname === '' || username !== '' || search !== '' || !['', '/'].includes(pathname)) return undefined
  const toPlaceAt = (scheme: string, usual: string) => {
    const url = `${scheme}://${hostname}:${port || usual}`
    return { address: url, url }
  }
  if (protocol === 'http:') return toPlaceAt('http', '80')
  if (protocol === 'https:') return toPlaceAt('https', '443')
  if (protocol !== 'tcp:') return undefined
  return toPlaceAt(certificates !== undefined || port === '2376' ? 'https' : 'http', '2375')
}

/** Reads the certificates of a folder with ca.pem, cert.pem and key.pem. Throws UpstreamFailure. */
export function readCertificates(folder: string | undefined): { ca?: string; cert?: string; key?: string } {
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
