import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy in front of a hub, for clients that cannot send its token. Disposing cuts every connection. */
export interface Forwarder extends AsyncDisposable {
  readonly url: string
}

/** Adds the token to every request and changes nothing else: Host and Origin stay those of the client. */
export async function startForwarder(hub: { url: string; token: string }): Promise<Forwarder> {
  const forward = (incoming: IncomingMessage, response: ServerResponse) => {
    const { method, url, headers } = incoming
    const outgoing = request(new URL(url ?? '/', hub.url), {
      method,
      headers: { ...headers, authorization: `Bearer ${hub.token}` },
    })
    outgoing.on('response', answer => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      response.flushHeaders()
      answer.pipe(response)
    })
    outgoing.on('error', () => response.destroy())
    response.on('close', () => outgoing.destroy())
    incoming.pipe(outgoing)
  }
  const server = createServer(forward)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise(resolve => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
