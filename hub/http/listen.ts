import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HubError } from '../core/errors.ts'

export interface Listening extends AsyncDisposable {
  readonly server: Server
  /** The real port. */
  readonly port: number
}

/** Serves HTTP; throws `conflict` that says what to do where the port is taken. */
export async function listen(host: string, port: number, onRequest: RequestListener): Promise<Listening> {
  const server = createServer({ keepAliveTimeout: 75_000 }, onRequest)
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
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new HubError('bad_request', `SUPERBLOOM_HOST: ${host} is no address of this machine`, {
      cause: error,
    })
  }
  return error
}
