import type { ServerResponse } from 'node:http'
import { isInitializeRequest } from '@modelcontextprotocol/server'
import { ANSWER_HEADERS } from '../core/answer-headers.ts'
import type { JsonObject, OfferChange } from '../core/forwarding.ts'
import type { McpRequest } from '../core/mcp-request.ts'
import type { Admitted, McpView } from './requests.ts'
import { Session, type SessionDeps } from './session.ts'
import type { ToolList } from './tool-list.ts'

/** Milliseconds after which an unused session of a legacy client is ended. */
const IDLE_MS = 30 * 60_000
const SWEEP_MS = 60_000
/** Milliseconds in which a session counts as just used: a client that connects has no stream open yet. */
const FRESH_MS = 10_000
/** Sessions at once; above that the one that was idle longest is ended. */
const MOST_SESSIONS = 1_000

/** The sessions of clients from before 2026-07-28. Disposing ends all. */
export class LegacySessions implements AsyncDisposable {
  readonly #deps: SessionDeps & { toolList: ToolList }
  readonly #sessions = new Map<string, Session>()
  #cancelSweep: (() => void) | undefined

  constructor(deps: SessionDeps & { toolList: ToolList }) {
    this.#deps = deps
  }

  async serve(request: McpRequest, response: ServerResponse, admitted: Admitted): Promise<void> {
    const { body, raw } = admitted
    const session = await this.#find(request, admitted)
    if (typeof session === 'number') return refuse(response, session)
    session.open++
    response.on('close', () => {
      session.open--
      session.usedAt = this.#deps.clock.monotonic()
    })
    if (raw?.method === 'tools/call') return session.answer(raw, response)
    if (raw && this.#deps.toolList.serves(session, session.mcp.client))
      return this.#deps.toolList.answer(raw, { principal: session.principal, era: 'legacy', response })
    return session.serve(request, response, body)
  }

  /** Notifies sessions of changed lists; of tools only those whose view is affected. */
  changed({ tools, resources, prompts }: OfferChange, isAffected: (view: McpView) => boolean): void {
    for (const { mcp, view } of this.#sessions.values()) {
      if (tools && isAffected(view)) mcp.notify('notifications/tools/list_changed')
      if (resources) mcp.notify('notifications/resources/list_changed')
      if (prompts) mcp.notify('notifications/prompts/list_changed')
    }
  }

  updated(uri: string): void {
    for (const { mcp, subscribed } of this.#sessions.values())
      if (subscribed.has(uri)) mcp.notify('notifications/resources/updated', { uri })
  }

  noticed(method: string, params: JsonObject): void {
    for (const { mcp } of this.#sessions.values()) mcp.notify(method, params)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#cancelSweep?.()
    await Promise.all([...this.#sessions.keys()].map(id => this.#end(id)))
  }

  async #find(
    { method, headers }: McpRequest,
    { body, principal, view }: Admitted,
  ): Promise<Session | number> {
    const id = headers['mcp-session-id']
    if (typeof id === 'string') {
      const found = this.#sessions.get(id)
      return found?.principal.id === principal.id ? found : 404
    }
    if (method !== 'POST' || !isInitializeRequest(body)) return 400
    const session = new Session(
      this.#deps,
      { principal, view },
      { onReady: (made, ready) => this.#admit(made, ready), onEnd: ended => this.#endQuietly(ended) },
    )
    await session.mcp.server.connect(session)
    return session
  }

  #admit(id: string, session: Session): void {
    const { clock } = this.#deps
    this.#sessions.set(id, session)
    this.#cancelSweep ??= clock.after(SWEEP_MS, () => this.#sweep())
    if (this.#sessions.size <= MOST_SESSIONS) return
    const isUsed = ({ open, usedAt }: Session) => open > 0 || clock.monotonic() - usedAt < FRESH_MS
    const [oldest] = [...this.#sessions].sort(
      ([, a], [, b]) => Number(isUsed(a)) - Number(isUsed(b)) || a.usedAt - b.usedAt,
    )
    if (oldest) this.#endQuietly(oldest[0])
  }

  #sweep(): void {
    const { clock } = this.#deps
    const now = clock.monotonic()
    for (const [id, { open, usedAt }] of this.#sessions)
      if (open === 0 && now - usedAt > IDLE_MS) this.#endQuietly(id)
    this.#cancelSweep = this.#sessions.size > 0 ? clock.after(SWEEP_MS, () => this.#sweep()) : undefined
  }

  #endQuietly(id: string): void {
    this.#end(id).catch(error => this.#deps.log.debug('session_not_closed', { error }))
  }

  async #end(id: string): Promise<void> {
    const session = this.#sessions.get(id)
    this.#sessions.delete(id)
    await session?.end()
  }
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
