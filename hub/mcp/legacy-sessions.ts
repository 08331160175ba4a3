import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node'
import { isInitializeRequest } from '@modelcontextprotocol/server'
import { ANSWER_HEADERS, secure } from '../core/answer-headers.ts'
import { isObject, type JsonObject, type OfferChange } from '../core/forwarding.ts'
import type { Log } from '../core/log.ts'
import type { McpRequest } from '../core/mcp-request.ts'
import { createEventStore } from './event-store.ts'
import {
  createLane,
  endLane,
  type LaneDeps,
  type LaneSession,
  resumeStream,
  serveCall,
  takeMessage,
} from './lane.ts'
import { readLegacyCall } from './lane-call.ts'
import type { ListLane } from './list-lane.ts'
import { McpServer, type McpServerDeps } from './server.ts'
import { isPlain, type McpView, toView } from './view.ts'
import type { Wanted } from './wanted.ts'

/** Milliseconds after which an unused session of a legacy client is ended. */
const IDLE_MS = 30 * 60_000
const SWEEP_MS = 60_000
/** Milliseconds in which a session counts as just used: a client that connects has no stream open yet. */
const FRESH_MS = 10_000
/** Sessions at once; above that the one that was idle longest is ended. */
const MOST_SESSIONS = 1_000

interface Session {
  transport: NodeStreamableHTTPServerTransport
  mcp: McpServer
  view: McpView
  /** Resources that the client subscribed to, each with the function that unsubscribes. */
  subscribed: Map<string, () => void>
  /** State of its calls on the fast path. */
  lane: LaneSession
  /** Whether the client said that it is initialized. */
  isReady: boolean
  usedAt: number
  open: number
}

export interface LegacySessionDeps extends McpServerDeps, LaneDeps {
  wanted: Wanted
  /** Tells whether a tool is the hub's own. */
  isOwn: (name: string) => boolean
  list: ListLane
}

/** The sessions of clients from before 2026-07-28. Disposing ends all. */
export interface LegacySessions extends AsyncDisposable {
  serve(request: McpRequest, response: ServerResponse, body: unknown, token: string): Promise<void>
  /** Notifies sessions of changed lists; of tools only those whose view is affected. */
  changed(change: OfferChange, isAffected: (view: McpView) => boolean): void
  updated(uri: string): void
  noticed(method: string, params: JsonObject): void
}

export function openLegacySessions(deps: LegacySessionDeps): LegacySessions {
  const sessions = new Map<string, Session>()
  let cancelSweep: (() => void) | undefined

  const end = async (id: string) => {
    const session = sessions.get(id)
    sessions.delete(id)
    if (!session) return
    endLane(session.lane, new Error('The session ended'))
    for (const release of session.subscribed.values()) release()
    deps.below.endSession(session.mcp.key)
    await session.mcp.server.close()
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
    const isUsed = ({ open, usedAt }: Session) => open > 0 || deps.clock.monotonic() - usedAt < FRESH_MS
    const oldest = [...sessions].sort(
      ([, a], [, b]) => Number(isUsed(a)) - Number(isUsed(b)) || a.usedAt - b.usedAt,
    )[0]
    if (oldest) endQuietly(oldest[0])
  }
  const open = (token: string, view: McpView) =>
    openSession(deps, { token, view }, { onReady: admit, onEnd: endQuietly })
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
      if (takeMessage(session.lane, body)) return accept(response)
      if (resumeStream(session.lane, request, response)) return
      if (session.isReady && isPlain(session.view) && !session.mcp.readsText) {
        const call = readLegacyCall(request, body)
        if (call && !deps.isOwn(call.name)) return serveCall(deps, toLane(session), call, response)
        if (deps.list.takesLegacy(request, body)) return deps.list.serve(body, response)
      }
      secure(response)
      await session.transport.handleRequest(request, response, body)
      session.isReady ||= isObject(body) && body['method'] === 'notifications/initialized'
    },
    ...createNews(() => sessions.values(), deps.log),
    async [Symbol.asyncDispose]() {
      cancelSweep?.()
      await Promise.all([...sessions.keys()].map(end))
    },
  }
}

async function openSession(
  deps: LegacySessionDeps,
  { token, view }: { token: string; view: McpView },
  { onReady, onEnd }: { onReady: (id: string, session: Session) => void; onEnd: (id: string) => void },
): Promise<Session> {
  const key = randomUUID()
  const subscribed = new Map<string, () => void>()
  const onSubscribe = (uri: string, isWanted: boolean) => {
    if (isWanted === subscribed.has(uri)) return
    if (isWanted) subscribed.set(uri, deps.wanted.add([uri]))
    else subscribed.get(uri)?.()
    if (!isWanted) subscribed.delete(uri)
  }
  const mcp = new McpServer(deps, { token, key: `session:${key}`, view, onSubscribe })
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: () => key,
    onsessioninitialized: id => onReady(id, session),
    onsessionclosed: onEnd,
    eventStore: createEventStore(),
  })
  const session: Session = {
    transport,
    mcp,
    view,
    subscribed,
    lane: createLane(mcp.key, mcp.elicited),
    isReady: false,
    usedAt: deps.clock.monotonic(),
    open: 0,
  }
  await mcp.server.connect(transport)
  return session
}

/** Creates the notifications that sessions get without having asked. */
function createNews(sessions: () => Iterable<Session>, log: Log) {
  const tell = (sent: Promise<void>) => void sent.catch(error => log.debug('change_not_sent', { error }))
  return {
    changed({ tools, resources, prompts }: OfferChange, isAffected: (view: McpView) => boolean) {
      for (const { mcp, view } of sessions()) {
        const { server } = mcp
        if (tools && isAffected(view)) tell(server.sendToolListChanged())
        if (resources) tell(server.sendResourceListChanged())
        if (prompts) tell(server.sendPromptListChanged())
      }
    },
    updated(uri: string) {
      for (const { mcp, subscribed } of sessions()) {
        if (subscribed.has(uri)) tell(mcp.server.sendResourceUpdated({ uri }))
      }
    },
    noticed(method: string, params: JsonObject) {
      for (const { mcp } of sessions()) mcp.tell(method, params)
    },
  }
}

/**
 * Returns the fast path's state with the client's capabilities and log level, which are known since it was
 * initialized.
 */
function toLane({ lane, mcp }: Session): LaneSession {
  lane.capabilities = { ...mcp.server.getClientCapabilities() }
  lane.logLevel = mcp.logLevel
  return lane
}

function accept(response: ServerResponse): void {
  response.writeHead(202, ANSWER_HEADERS).end()
}

/** Answers so that the client knows that it has to begin anew. */
function refuse(response: ServerResponse, status: number): void {
  const error =
    status === 404
      ? { code: -32_001, message: 'Session not found: initialize again' }
      : { code: -32_000, message: 'Bad Request: initialize first, then send Mcp-Session-Id' }
  response.writeHead(status, { ...ANSWER_HEADERS, 'Content-Type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }))
}
