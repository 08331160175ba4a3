import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node'
import { isInitializeRequest } from '@modelcontextprotocol/server'
import { createProtocolServer } from '../protocol.ts'
import type { App } from '../server.ts'
import { answerError } from './answer.ts'

const MAX_SESSIONS = 100
const IDLE_LIMIT = 30 * 60_000

interface Session {
  readonly transport: NodeStreamableHTTPServerTransport
  /** Number of requests and streams that are open now. */
  open: number
  lastUsed: number
}

/**
 * Creates the sessions of clients from before 2026-07-28, whose subscriptions last as long as their session.
 * Before it opens one, it ends those unused for 30 minutes, and the longest unused of 100.
 */
export function createSessions(app: App) {
  const sessions = new Map<string, Session>()

  async function makeRoom() {
    const unused = [...sessions.values()].filter(session => session.open === 0)
    const idle = unused.filter(session => app.clock.monotonic() - session.lastUsed > IDLE_LIMIT)
    const oldest = unused.sort((a, b) => a.lastUsed - b.lastUsed)[0]
    if (sessions.size - idle.length >= MAX_SESSIONS && oldest && !idle.includes(oldest)) idle.push(oldest)
    for (const session of idle) await session.transport.close()
  }

  async function openSession(): Promise<Session> {
    await makeRoom()
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: id => void sessions.set(id, session),
    })
    const session: Session = { transport, open: 0, lastUsed: app.clock.monotonic() }
    const server = createProtocolServer(app, { era: 'legacy' })
    const closed = server.onclose
    server.onclose = () => {
      closed?.()
      if (transport.sessionId !== undefined) sessions.delete(transport.sessionId)
    }
    await server.connect(transport)
    return session
  }

  async function find(
    request: IncomingMessage,
    body: unknown,
  ): Promise<Session | { status: number; message: string }> {
    const id = request.headers['mcp-session-id']
    if (id === undefined) {
      if (!isInitializeRequest(body))
        return { status: 400, message: 'Bad Request: this needs a session; send initialize first' }
      if (sessions.size >= MAX_SESSIONS && ![...sessions.values()].some(session => session.open === 0)) {
        return { status: 503, message: 'Too many open sessions; end one, or try again later' }
      }
      return openSession()
    }
    const ended = { status: 404, message: 'Session not found: it ended; send initialize again' }
    return sessions.get(String(id)) ?? ended
  }

  return {
    /** Answers one request; `body` is undefined on GET and DELETE. */
    async handle(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
      const found = await find(request, body)
      if ('status' in found) return answerError(response, found.status, found.message)
      found.open++
      response.on('close', () => {
        found.open--
        found.lastUsed = app.clock.monotonic()
      })
      await found.transport.handleRequest(request, response, body)
      // A refused initialize leaves a transport without a session, which no client could end.
      if (found.transport.sessionId === undefined) await found.transport.close()
    },
    async [Symbol.asyncDispose]() {
      for (const session of [...sessions.values()]) await session.transport.close()
    },
  }
}
