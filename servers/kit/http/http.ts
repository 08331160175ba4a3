import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler, toWebRequest } from '@modelcontextprotocol/node'
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server'
import { createProtocolServer } from '../protocol.ts'
import type { Served } from '../serve.ts'
import type { App } from '../server.ts'
import { answerError } from './answer.ts'
import { type DoorRules, decideDoor, MCP_PATH } from './doors.ts'
import { createSessions } from './sessions.ts'

const MAX_BODY = 1024 * 1024

export interface HttpOptions {
  /** Address to listen on; default 127.0.0.1, which only this machine reaches. */
  host?: string
  /** Port to listen on; 0 takes any free port. */
  port: number
  /** The token that clients send as `Authorization: Bearer <token>`; not empty, without white space. */
  token: string
  /** Host names besides the loopback ones that clients may use for this machine, without ports. */
  allowedHosts?: readonly string[]
}

/** A request as `node:http` hands it to a server: method and URL are always set. */
type ServerRequest = IncomingMessage & { method: string; url: string }
type Handle = (request: ServerRequest, response: ServerResponse, body: unknown) => Promise<void>

/**
 * Serves MCP at `http://<host>:<port>/mcp` to clients with the token. Rejects with advice if the token is
 * unusable or the port cannot be opened.
 */
export async function openHttp(app: App, options: HttpOptions): Promise<Served> {
  const { host = '127.0.0.1', port, token, allowedHosts = [] } = options
  if (!/^\S+$/.test(token))
    throw new Error('Serving over HTTP needs a token: a text without white space, not empty.')
  await using opened = new AsyncDisposableStack()
  const rules: DoorRules = {
    token,
    hosts: [...allowedHosts, ...(isWildcard(host) ? [] : [toHostname(host)])],
  }
  const handle = openEras(app, opened)
  const http = createServer((request, response) => {
    answer(request as ServerRequest, response, rules, { handle, health: app.health }).catch(error => {
      app.log('error', 'request failed', { path: request.url, error })
      if (response.headersSent) response.destroy()
      else answerError(response, 500, 'Something went wrong inside the server; its log says what.')
    })
  })
  await listen(http, port, host)
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  http.on('close', resolve)
  opened.defer(() => close(http, closed))
  const owned = opened.move()
  const url = `http://${toHostname(isWildcard(host) ? '127.0.0.1' : host)}:${(http.address() as AddressInfo).port}${MCP_PATH}`
  return { url, closed, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/**
 * Opens both protocol eras: a request of 2026-07-28 is stateless and goes to the SDK's handler, an older one
 * belongs to a session.
 */
function openEras(app: App, opened: AsyncDisposableStack): Handle {
  const sessions = opened.use(createSessions(app))
  const handler = createMcpHandler(context => createProtocolServer(app, context), {
    legacy: 'reject',
    maxRequestBodySize: MAX_BODY,
    onerror: error => app.log('warn', 'request refused', { error }),
  })
  opened.defer(() => handler.close())
  opened.defer(app.events.onChange(() => handler.notify.resourceUpdated(app.events.uri)))
  const modern = toNodeHandler(handler, { maxRequestBodySize: MAX_BODY })
  return async (request, response, body) => {
    const legacy =
      request.method !== 'POST' || (await isLegacyRequest(await toWebRequest(request, body), body))
    await (legacy ? sessions.handle(request, response, body) : modern(request, response, body))
  }
}

async function answer(
  request: ServerRequest,
  response: ServerResponse,
  rules: DoorRules,
  { handle, health }: { handle: Handle; health: App['health'] },
) {
  const decision = decideDoor(request, rules)
  switch (decision.kind) {
    case 'health':
      return answerHealth(response, decision.details ? health : undefined)
    case 'refuse': {
      const headers = { ...decision.headers, connection: 'close' }
      return answerError(response, decision.status, decision.message, headers)
    }
    case 'pass':
      return answerMcp(request, response, handle)
    default:
      decision satisfies never
  }
}

/**
 * Answers that the server runs, and with `health` also which upstreams answer. The status is 200 even if an
 * upstream is down.
 */
async function answerHealth(response: ServerResponse, health: App['health']) {
  const report = await health?.()
  response.writeHead(200, { 'content-type': report ? 'application/json' : 'text/plain' })
  response.end(report ? JSON.stringify(report) : 'ok\n')
}

async function answerMcp(request: ServerRequest, response: ServerResponse, handle: Handle) {
  if (request.method !== 'POST') return handle(request, response, undefined)
  const text = await readText(request)
  if (text === undefined) return answerError(response, 413, 'The body is larger than 1 MiB.')
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return answerError(response, 400, 'The body is not JSON.')
  }
  return handle(request, response, body)
}

/**
 * Reads a body; undefined if it is larger than 1 MiB. Its rest is read and dropped, so that the client can
 * read the answer. Rejects when the client disconnects in the middle.
 */
async function readText(request: ServerRequest): Promise<string | undefined> {
  if (Number(request.headers['content-length']) > MAX_BODY) return undefined
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= MAX_BODY) chunks.push(chunk)
  }
  return size <= MAX_BODY ? Buffer.concat(chunks).toString('utf8') : undefined
}

function listen(http: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', cause =>
      reject(
        new Error(`Cannot listen on ${host}:${port}. Choose another port or address, or end what uses it`, {
          cause,
        }),
      ),
    )
    http.listen(port, host, resolve)
  })
}

async function close(http: Server, closed: Promise<void>): Promise<void> {
  http.close()
  http.closeAllConnections()
  await closed
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/** Returns the host as in a URL and in a Host header: IPv6 in brackets. */
function toHostname(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
