import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node'
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type Server,
} from '@modelcontextprotocol/server'
import type { Clock } from '../core/clock.ts'
import { createMcpServer, type McpServerDeps } from './server.ts'
import { type McpView, toView, WHOLE } from './view.ts'

/** A request as servers get it: with a method. */
export type McpRequest = IncomingMessage & { method: string; url: string }

/** Sessions of legacy clients that nobody used for so long are ended. */
const IDLE_MS = 30 * 60_000
const SWEEP_MS = 60_000
/** Above this many sessions the one that was idle longest makes room. */
const MOST_SESSIONS = 1_000

export interface McpEndpointDeps extends McpServerDeps {
  clock: Clock
}

/** MCP over Streamable HTTP for clients of both eras. Disposing ends all sessions and streams. */
export interface McpEndpoint extends AsyncDisposable {
  /** Serves a request that was admitted; `body` is its parsed JSON. */
  handle(
    request: McpRequest,
    response: ServerResponse,
    body: unknown,
    caller: { token: string },
  ): Promise<void>
  /** Tells every client that the list of tools changed. */
  toolsChanged(): void
}

interface Session {
  transport: NodeStreamableHTTPServerTransport
  server: Server
  view: McpView
  usedAt: number
  open: number
}

export function createMcpEndpoint(deps: McpEndpointDeps): McpEndpoint {
  const modern = createMcpHandler(
    ({ authInfo }) => {
      const view = (authInfo?.extra?.['view'] ?? WHOLE) as McpView
      return createMcpServer(deps, authInfo?.clientId ?? 'owner', view)
    },
    { legacy: 'reject', onerror: error => deps.log.debug('mcp_rejected', { error }) },
  )
  const serveModern = toNodeHandler(modern)
  const sessions = createSessions(deps)
  return {
    async handle(request, response, body, caller) {
      if (request.method === 'POST') {
        const probe = await toWebRequest(request, body)
        if (!(await isLegacyRequest(probe))) {
          const extra = { view: toView(request.url) }
          const auth = { token: '', clientId: caller.token, scopes: [], extra }
          return serveModern(Object.assign(request, { auth }), response, body)
        }
      }
      return sessions.serve(request, response, body, caller.token)
    },
    toolsChanged() {
      modern.notify.toolsChanged()
      sessions.toolsChanged()
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([modern.close(), sessions[Symbol.asyncDispose]()])
    },
  }
}

function createSessions(deps: McpEndpointDeps) {
  const sessions = new Map<string, Session>()
  let cancelSweep: (() => void) | undefined

  const end = async (id: string) => {
    const session = sessions.get(id)
    sessions.delete(id)
    await session?.server.close()
  }
  const endQuietly = (id: string) =>
    void end(id).catch(error => deps.log.debug('session_not_closed', { error }))
  const sweep = () => {
    cancelSweep = undefined
    const now = deps.clock.monotonic()
    for (const [id, session] of sessions)
      if (session.open === 0 && now - session.usedAt > IDLE_MS) endQuietly(id)
    if (sessions.size > 0) cancelSweep = deps.clock.after(SWEEP_MS, sweep)
  }
  const admit = (id: string, session: Session) => {
    sessions.set(id, session)
    cancelSweep ??= deps.clock.after(SWEEP_MS, sweep)
    if (sessions.size <= MOST_SESSIONS) return
    const oldest = [...sessions].sort(
      ([, a], [, b]) => Number(a.open > 0) - Number(b.open > 0) || a.usedAt - b.usedAt,
    )[0]
    if (oldest) endQuietly(oldest[0])
  }
  const open = async (token: string, view: McpView): Promise<Session> => {
    const server = createMcpServer(deps, token, view)
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: id => admit(id, session),
      onsessionclosed: id => endQuietly(id),
    })
    const session: Session = { transport, server, view, usedAt: deps.clock.monotonic(), open: 0 }
    await server.connect(transport)
    return session
  }
  const find = async (request: McpRequest, body: unknown, token: string): Promise<Session | number> => {
    const id = request.headers['mcp-session-id']
    if (typeof id === 'string') return sessions.get(id) ?? 404
    return request.method === 'POST' && isInitializeRequest(body) ? open(token, toView(request.url)) : 400
  }
  return {
    async serve(request: McpRequest, response: ServerResponse, body: unknown, token: string): Promise<void> {
      const session = await find(request, body, token)
      if (typeof session === 'number') return refuse(response, session)
      session.open++
      response.on('close', () => {
        session.open--
        session.usedAt = deps.clock.monotonic()
      })
      await session.transport.handleRequest(request, response, body)
    },
    toolsChanged() {
      for (const { server, view } of sessions.values()) {
        if (view.lean) continue // its list never changes
        server.sendToolListChanged().catch(error => deps.log.debug('change_not_sent', { error }))
      }
    },
    async [Symbol.asyncDispose]() {
      cancelSweep?.()
      await Promise.all([...sessions.keys()].map(end))
    },
  }
}

/** The answers by which a client knows that it has to begin anew. */
function refuse(response: ServerResponse, status: number): void {
  const error =
    status === 404
      ? { code: -32_001, message: 'Session not found: initialize again' }
      : { code: -32_000, message: 'Bad Request: initialize first, then send Mcp-Session-Id' }
  response.writeHead(status, { 'Content-Type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }))
}
