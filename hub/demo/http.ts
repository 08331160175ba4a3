import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request whose body has been read. */
export interface LabRequest {
  method: string
  url: URL
  body: string
  headers: IncomingMessage['headers']
}

export interface LabAnswer {
  status?: number
  headers?: Record<string, string>
  /** Text, or an object that is sent as JSON. */
  body: unknown
}

export interface LabServer extends AsyncDisposable {
  readonly url: string
  /** The HTTP server, for protocols that begin as HTTP. */
  readonly server: Server
}

/** Starts an HTTP server on loopback. */
export async function startLab(answer: (request: LabRequest) => LabAnswer, port = 0): Promise<LabServer> {
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const url = new URL(request.url ?? '/', 'http://lab')
    const body = Buffer.concat(pieces).toString('utf8')
    send(response, answer({ method: request.method ?? 'GET', url, body, headers: request.headers }))
  })
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  return {
    server,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

function send(response: ServerResponse, { status = 200, headers, body }: LabAnswer): void {
  const isText = typeof body === 'string'
  response.writeHead(status, { 'Content-Type': isText ? 'text/plain' : 'application/json', ...headers })
  response.end(isText ? body : JSON.stringify(body))
}
