import type { ServerResponse } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { secure } from '../core/answer-headers.ts'
import type { OfferChange } from '../core/forwarding.ts'
import type { McpRequest } from '../core/mcp-request.ts'
import type { Parked } from './parked.ts'
import { McpServer, type McpServerDeps } from './server.ts'
import type { McpView } from './view.ts'

/**
 * Serves clients of 2026-07-28, with one handler per view, so that each client gets only the changes of what
 * it sees.
 */
export interface Modern extends AsyncDisposable {
  serve(
    request: McpRequest,
    response: ServerResponse,
    body: unknown,
    as: { token: string; view: McpView },
  ): Promise<void>
  /** Notifies clients with an open subscription; of tools only those whose view is affected. */
  changed(change: OfferChange, isAffected: (view: McpView) => boolean): void
  updated(uri: string): void
}

export function createModern(deps: McpServerDeps & { parked: Parked }): Modern {
  const handlers = new Map<string, ReturnType<typeof open>>()
  const open = (view: McpView) => {
    const handler = createMcpHandler(
      ({ authInfo }) => {
        const token = authInfo?.clientId ?? 'owner'
        return new McpServer(deps, { token, key: `token:${token}`, view }).server
      },
      { legacy: 'reject', onerror: error => deps.log.debug('mcp_rejected', { error }) },
    )
    return { view, handler, handle: toNodeHandler(handler) }
  }
  return {
    async serve(request, response, body, { token, view }) {
      const key = `${view.lean} ${view.toolset ?? ''}`
      const found = handlers.get(key) ?? open(view)
      handlers.set(key, found)
      secure(response)
      const auth = { token: '', clientId: token, scopes: [] }
      await found.handle(Object.assign(request, { auth }), response, body)
    },
    changed({ tools, resources, prompts }, isAffected) {
      for (const { view, handler } of handlers.values()) {
        if (tools && isAffected(view)) handler.notify.toolsChanged()
        if (resources) handler.notify.resourcesChanged()
        if (prompts) handler.notify.promptsChanged()
      }
    },
    updated(uri) {
      for (const { handler } of handlers.values()) handler.notify.resourceUpdated(uri)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...handlers.values()].map(({ handler }) => handler.close()))
    },
  }
}
