import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { HubError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'

export interface Listening extends AsyncDisposable {
  readonly server: Server | SecureServer
  /** The port that the server really listens on. */
  readonly port: number
  /** Uses another certificate for new connections; does nothing where it serves http. Throws for a wrong one. */
  renew(pair: Pair): void
}

interface Pair {
  cert: Buffer
  key: Buffer
}

/** Connections open at once; a house uses some dozens. The server closes any further one at once. */
const MOST_CONNECTIONS = 4_000
/** Milliseconds in which a request must arrive whole, its head sooner; an answer has no limit. */
const LONGEST_REQUEST_MS = 60_000
const LONGEST_HEAD_MS = 20_000

export interface ListenOptions {
  host: string
  port: number
  onRequest: RequestListener
  log: Log
  /** The certificate of https; undefined for http. */
  pair?: Pair | undefined
  mostConnections?: number
}

/** Serves HTTP or HTTPS; throws `conflict` with advice if the port is taken. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { host, port, onRequest, log, pair, mostConnections = MOST_CONNECTIONS } = options
  const limits = {
    keepAliveTimeout: 75_000,
    requestTimeout: LONGEST_REQUEST_MS,
    headersTimeout: LONGEST_HEAD_MS,
  }
  const secure =
    pair && createSecureServer({ ...limits, ...pair, handshakeTimeout: LONGEST_HEAD_MS }, onRequest)
  const server = secure ?? createServer(limits, onRequest)
  server.maxConnections = mostConnections
  let isFull = false
  server.on('drop', () => {
    // The log says it once for as long as the server is full.
    if (!isFull) log.warn('too_many_connections', { most: mostConnections })
    isFull = true
  })
  server.on('connection', () => {
    isFull = false
  })
  const listening = Promise.withResolvers<void>()
  server.once('error', listening.reject)
  server.listen({ host, port }, () => listening.resolve())
  try {
    await listening.promise
  } catch (error) {
    throw explain(error, host, port)
  }
  return {
    server,
    port: (server.address() as AddressInfo).port,
    renew: next => secure?.setSecureContext(next),
    async [Symbol.asyncDispose]() {
      const closed = Promise.withResolvers<void>()
      server.close(() => closed.resolve())
      server.closeAllConnections()
      await closed.promise
    },
  }
}

function explain(error: unknown, host: string, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') {
    const text = `Port ${port} on ${host} is taken. Stop what uses it, or set SUPERBLOOM_PORT (0 takes any free one).`
    return new HubError('conflict', text, { cause: error })
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new HubError('bad_request', `SUPERBLOOM_HOST: ${host} is no address of this machine`, {
      cause: error,
    })
  }
  return error
}

/** Returns an address that a person can open; a hub that listens everywhere is reached by loopback too. */
export function toUrl(host: string, port: number, isSecure: boolean): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `${isSecure ? 'https' : 'http'}://${name}:${port}`
}
