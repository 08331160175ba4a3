import type { ServerResponse } from 'node:http'
import { classifyInboundRequest } from '@modelcontextprotocol/server'
import { readsText } from '../../schemas/text-readers.ts'
import type { Clock } from '../core/clock.ts'
import { createDeadlines } from '../core/deadlines.ts'
import { isObject, type JsonObject, type OfferChange } from '../core/forwarding.ts'
import type { McpRequest } from '../core/mcp-request.ts'
import { declaredBy } from './callers.ts'
import type { HubTool } from './hub-tools/hub-tool.ts'
import { serveModernCall } from './lane.ts'
import { isOfLegacy, readModernCall } from './lane-call.ts'
import { openLegacySessions } from './legacy-sessions.ts'
import { createListChanges } from './list-changes.ts'
import { createListLane } from './list-lane.ts'
import { createModern } from './modern.ts'
import { createParked } from './parked.ts'
import { FIRST_SIGN_MS } from './reply.ts'
import { listTools, type McpServerDeps, toServerInfo } from './server.ts'
import { isPlain, type McpView, toView } from './view.ts'
import { createWanted } from './wanted.ts'

export interface McpEndpointDeps extends McpServerDeps {
  clock: Clock
  /** Returns the names of the configured toolsets. */
  toolsets: () => readonly string[]
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
  /** Notifies clients of changed lists; of tools only those clients whose own list changed. */
  changed(change: OfferChange): void
  /** Notifies the clients that subscribed to a resource of its change. */
  updated(uri: string): void
  /** Forwards a notification that belongs to no request: log messages go to the clients that want them. */
  noticed(method: string, params: JsonObject): void
}

export function createMcpEndpoint(deps: McpEndpointDeps): McpEndpoint {
  const parked = createParked(deps.clock)
  const wanted = createWanted(uris => deps.below.subscribe(uris))
  const modern = createModern({ ...deps, parked })
  const lists = createListChanges({ ...deps, tools: () => listTools(deps) })
  const firstSigns = createDeadlines(deps.clock, FIRST_SIGN_MS)
  const lane = { ...deps, parked, firstSigns, serverInfo: toServerInfo(deps.version) }
  const isOwn = createIsOwn(deps.hubTools)
  const list = createListLane({ ...lane, tools: () => listTools(deps) })
  const sessions = openLegacySessions({ ...lane, wanted, isOwn, list })
  return {
    async handle(request, response, body, caller) {
      const view = toView(request.url)
      if (isPlain(view) && !readsText(modernClientOf(body))) {
        const call = readModernCall(request, body)
        if (call && !isOwn(call.name)) return serveModernCall(lane, caller.token, call, response)
        if (list.takesModern(request, body)) return list.serve(body, response)
      }
      if (isLegacy(request, body)) return sessions.serve(request, response, body, caller.token)
      response.once('close', wanted.add(subscribedBy(body)))
      return modern.serve(request, response, body, { token: caller.token, view })
    },
    changed(change) {
      const changed = change.tools ? lists.look() : new Set()
      // A lean list never changes.
      const isAffected = ({ lean, toolset }: McpView) => !lean && changed.has(toolset)
      modern.changed(change, isAffected)
      sessions.changed(change, isAffected)
    },
    updated(uri) {
      if (!wanted.has(uri)) return
      modern.updated(uri)
      sessions.updated(uri)
    },
    noticed: sessions.noticed,
    async [Symbol.asyncDispose]() {
      parked[Symbol.dispose]()
      firstSigns[Symbol.dispose]()
      await Promise.all([modern[Symbol.asyncDispose](), sessions[Symbol.asyncDispose]()])
    },
  }
}

/** Returns the name that a client of 2026-07-28 gives itself in a request. */
function modernClientOf(body: unknown): string {
  const params = isObject(body) ? body['params'] : undefined
  const meta = isObject(params) ? params['_meta'] : undefined
  return isObject(meta) ? declaredBy(meta).name : ''
}

/** Tells whether a request is of the protocol's older era. */
function isLegacy(request: McpRequest, body: unknown): boolean {
  const { method, headers } = request
  // Most requests belong to a session, and their headers suffice to see it.
  if (headers['mcp-session-id'] !== undefined && headers['mcp-method'] === undefined && isOfLegacy(request))
    return true
  const text = (header: string | string[] | undefined) => (typeof header === 'string' ? header : undefined)
  const found = {
    protocolVersionHeader: text(headers['mcp-protocol-version']),
    mcpMethodHeader: text(headers['mcp-method']),
    mcpNameHeader: text(headers['mcp-name']),
  }
  const given = Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined))
  return classifyInboundRequest({ httpMethod: method, ...given, body }).kind === 'legacy'
}

function createIsOwn(hubTools: readonly HubTool[]): (name: string) => boolean {
  const names = new Set(hubTools.map(tool => tool.definition.name))
  return name => names.has(name)
}

/** Returns the resources of a modern client's `subscriptions/listen`; none for other requests. */
function subscribedBy(body: unknown): string[] {
  if (!isObject(body) || body['method'] !== 'subscriptions/listen' || !isObject(body['params'])) return []
  const { notifications } = body['params']
  const uris = isObject(notifications) ? notifications['resourceSubscriptions'] : undefined
  return Array.isArray(uris) ? uris.filter(uri => typeof uri === 'string') : []
}
