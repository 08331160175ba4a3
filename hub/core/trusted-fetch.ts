import { Agent, Dispatcher1Wrapper } from 'undici'

/**
 * Returns how to connect to a server that has exactly this certificate (PEM), whoever signed it and under whatever name
 * the server is reached.
 */
export function toTrust(certificate: string | undefined) {
  if (certificate === undefined) return {}
  return { ca: certificate, allowPartialTrustChain: true, checkServerIdentity: () => undefined }
}

/** Returns a `fetch` for a server with exactly this certificate, or for one that needs none. */
export function createTrustedFetch(certificate: string | undefined): typeof fetch {
  if (certificate === undefined) return fetch
  // Node's own `fetch` speaks with dispatchers of an earlier interface, and its types are of that one.
  const dispatcher = new Dispatcher1Wrapper(new Agent({ connect: toTrust(certificate), allowH2: false }))
  return (url, init) => {
    const options: object = { ...init, dispatcher }
    return fetch(url, options)
  }
}
