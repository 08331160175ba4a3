import type { ServerResponse } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { secure } from '../core/answer-headers.ts'
import { isObject, type OfferChange } from '../core/forwarding.ts'
import type { McpRequest } from '../core/mcp-request.ts'
import type { Principal } from '../core/principal.ts'
import { answerCall } from './call-tool.ts'
import { describedBy, toModernKey } from './caller.ts'
import { Reply } from './reply.ts'
import type { Admitted, McpView, RawRequest } from './requests.ts'
import { McpServer, type McpServerDeps, mayReadResource } from './server.ts'
import type { Subscriptions } from './subscriptions.ts'
import type { ToolList } from './tool-list.ts'

export interface ModernDeps extends McpServerDeps {
  subscriptions: Subscriptions
  toolList: ToolList
}

/**
 * Serves clients of 2026-07-28, each of whose requests stands for itself. The SDK has one handler per view,
 * so that each client gets only the changes of what it sees. Disposing ends all streams.
 */
export class ModernClients implements AsyncDisposable {
  readonly #deps: ModernDeps
  readonly #handlers = new Map<string, ViewHandler>()

  constructor(deps: ModernDeps) {
    this.#deps = deps
  }

  async serve(request: McpRequest, response: ServerResponse, admitted: Admitted): Promise<void> {
    const { raw, principal, view } = admitted
    const { toolList, subscriptions } = this.#deps
    const body = this.#withoutHidden(admitted)
    if (raw?.method === 'tools/call') return this.#answer(raw, response, { principal, view })
    if (raw && toolList.serves(admitted, describedBy(raw.meta)))
      return toolList.answer(raw, { principal, era: 'modern', response })
    const key = `${view.lean} ${view.toolset ?? ''}`
    const found = this.#handlers.get(key) ?? openHandler(this.#deps, view)
    this.#handlers.set(key, found)
    response.once('close', subscriptions.add(subscribedBy(body)))
    secure(response)
    const auth = { token: '', clientId: principal.id, scopes: [], extra: { principal } }
    await found.handle(Object.assign(request, { auth }), response, body)
  }

  /** Notifies clients with an open subscription; of tools only those whose view is affected. */
  changed({ tools, resources, prompts }: OfferChange, isAffected: (view: McpView) => boolean): void {
    for (const { view, handler } of this.#handlers.values()) {
      if (tools && isAffected(view)) handler.notify.toolsChanged()
      if (resources) handler.notify.resourcesChanged()
      if (prompts) handler.notify.promptsChanged()
    }
  }

  updated(uri: string): void {
    for (const { handler } of this.#handlers.values()) handler.notify.resourceUpdated(uri)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#handlers.values()].map(({ handler }) => handler.close()))
  }

  /** Takes the resources that the principal may not read out of a `subscriptions/listen`. */
  #withoutHidden({ body, principal }: Admitted): unknown {
    const uris = subscribedBy(body)
    const read = uris.filter(uri => mayReadResource(this.#deps, principal, uri))
    if (read.length === uris.length || !isObject(body)) return body
    const { params } = body as { params: { notifications: object } }
    const notifications = { ...params.notifications, resourceSubscriptions: read }
    return { ...body, params: { ...params, notifications } }
  }

  /** Forwards a call of a tool as it came, and the result as it came back. */
  #answer(
    raw: RawRequest,
    response: ServerResponse,
    { principal, view }: Pick<Admitted, 'principal' | 'view'>,
  ): Promise<void> {
    const client = describedBy(raw.meta)
    const ended = new AbortController()
    // A client that closes the stream wants no answer any more; a legacy one may have lost its connection.
    const onLost = () => ended.abort(new Error('The client went away'))
    const reply = new Reply(response, { clock: this.#deps.clock, onLost })
    const key = toModernKey(principal, client)
    const who = { key, principal, view, client, session: undefined, signal: ended.signal }
    return answerCall(this.#deps, who, raw, reply)
  }
}

type ViewHandler = ReturnType<typeof openHandler>

function openHandler(deps: ModernDeps, view: McpView) {
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const principal = authInfo?.extra?.['principal'] as Principal
      return new McpServer(deps, { principal, key: `token:${principal.id}`, view }).server
    },
    { legacy: 'reject', onerror: error => deps.log.debug('mcp_rejected', { error }) },
  )
  return { view, handler, handle: toNodeHandler(handler) }
}

/** Returns the resources of a `subscriptions/listen`; none for other requests. */
function subscribedBy(body: unknown): string[] {
  if (!isObject(body) || body['method'] !== 'subscriptions/listen' || !isObject(body['params'])) return []
  const { notifications } = body['params']
  const uris = isObject(notifications) ? notifications['resourceSubscriptions'] : undefined
  return Array.isArray(uris) ? uris.filter(uri => typeof uri === 'string') : []
}
