import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { Server as ServerV1 } from '@modelcontextprotocol/sdk/server/index.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'

/** Streamable HTTP with sessions, that of 2026-07-28, and the earlier HTTP+SSE. */
export const KINDS = ['legacy', 'modern', 'sse'] as const
export type Kind = (typeof KINDS)[number]

interface Live {
  sessions?: ReadonlyMap<string, unknown>
  handle: Handle
  changed(): void
  close(): unknown
}

type Handle = (
  request: IncomingMessage & { method: string; url: string },
  response: ServerResponse,
) => unknown

/** Returns false after answering a request itself, or true to accept it; `url` is the server's. */
export type Guard = (request: IncomingMessage, response: ServerResponse, url: string) => boolean

/** A third-party MCP server at an address, which a test can stop and restart on the same port. */
export interface HttpServer extends AsyncDisposable {
  readonly url: string
  /** Number of its sessions. */
  readonly sessions: number
  /** The received Authorization headers. */
  readonly authorizations: Set<string | undefined>
  start(tools: readonly string[]): Promise<void>
  /** Cuts every connection and drops all sessions. */
  stop(): Promise<void>
  /** Changes its tools, with a notification. */
  offer(tools: readonly string[]): void
}

/** Creates tools that each answer with their name. */
const toTools = (names: readonly string[]) =>
  names.map(name => ({ name, inputSchema: { type: 'object' as const, properties: {} } }))
const toResult = (text: string) => ({ content: [{ type: 'text' as const, text }] })
const INFO = { name: 'behind-an-address', version: '1.0.0' }
const OPTIONS = { capabilities: { tools: { listChanged: true } } }

/** Creates the server: a legacy one of SDK 1 has sessions; a modern one of SDK 2 refuses legacy clients. */
export function createHttpServer(kind: Kind, guard: Guard = () => true): HttpServer {
  const authorizations = new Set<string | undefined>()
  let port = 0
  let offered: readonly string[] = []
  let live: Live | undefined
  const server = createServer((request, response) => {
    authorizations.add(request.headers.authorization)
    if (!guard(request, response, `http://127.0.0.1:${port}/mcp`)) return
    return live?.handle(request as IncomingMessage & { method: string; url: string }, response)
  })
  return {
    get url() {
      return `http://127.0.0.1:${port}/mcp`
    },
    get sessions() {
      return live?.sessions?.size ?? 0
    },
    authorizations,
    async start(tools) {
      offered = tools
      live = CREATE[kind](() => offered)
      await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
      port = (server.address() as AddressInfo).port
    },
    async stop() {
      await live?.close()
      live = undefined
      const closed = new Promise(resolve => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
    offer(tools) {
      offered = tools
      live?.changed()
    },
    async [Symbol.asyncDispose]() {
      if (live) await this.stop()
    },
  }
}

function createModern(offered: () => readonly string[]): Live {
  const handler = createMcpHandler(
    () => {
      const server = new Server(INFO, OPTIONS)
      server.setRequestHandler('tools/list', () => ({ tools: toTools(offered()) }))
      server.setRequestHandler('tools/call', ({ params }) => toResult(params.name))
      return server
    },
    { legacy: 'reject' },
  )
  return {
    handle: toNodeHandler(handler) as Handle,
    changed: () => handler.notify.toolsChanged(),
    close: () => handler.close(),
  }
}

function createServerV1(offered: () => readonly string[]): ServerV1 {
  const server = new ServerV1(INFO, OPTIONS)
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: toTools(offered()) }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => toResult(params.name))
  return server
}

function createLegacy(offered: () => readonly string[]): Live {
  const sessions = new Map<string, { transport: StreamableHTTPServerTransport; server: ServerV1 }>()
  const open = async () => {
    const server = createServerV1(offered)
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: id => void sessions.set(id, { transport, server }),
      onsessionclosed: id => void sessions.delete(id),
    })
    await server.connect(transport as Parameters<typeof server.connect>[0])
    return transport
  }
  const handle: Handle = async (request, response) => {
    const id = request.headers['mcp-session-id']
    if (typeof id !== 'string') return (await open()).handleRequest(request, response)
    const session = sessions.get(id)
    if (session) return session.transport.handleRequest(request, response)
    response
      .writeHead(404)
      .end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}')
  }
  return {
    sessions,
    handle,
    changed() {
      for (const { server } of sessions.values()) void server.sendToolListChanged()
    },
    async close() {
      for (const { server } of sessions.values()) await server.close()
    },
  }
}

function createSse(offered: () => readonly string[]): Live {
  const sessions = new Map<string, { transport: SSEServerTransport; server: ServerV1 }>()
  return {
    sessions,
    async handle(request, response) {
      const id = new URL(request.url, 'http://server').searchParams.get('sessionId')
      if (request.method === 'GET') {
        const server = createServerV1(offered)
        const transport = new SSEServerTransport('/messages', response)
        sessions.set(transport.sessionId, { transport, server })
        response.on('close', () => sessions.delete(transport.sessionId))
        await server.connect(transport)
      } else if (id === null) response.writeHead(405).end('Method Not Allowed')
      else if (sessions.has(id)) await sessions.get(id)?.transport.handlePostMessage(request, response)
      else response.writeHead(404).end('Session not found')
    },
    changed() {
      for (const { server } of sessions.values()) void server.sendToolListChanged()
    },
    async close() {
      for (const { server } of sessions.values()) await server.close()
    },
  }
}

const CREATE: Record<Kind, (offered: () => readonly string[]) => Live> = {
  legacy: createLegacy,
  modern: createModern,
  sse: createSse,
}
