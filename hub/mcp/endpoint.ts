import type { ServerResponse } from 'node:http'
import { classifyInboundRequest } from '@modelcontextprotocol/server'
import { HubError } from '../core/errors.ts'
import type { JsonObject, OfferChange } from '../core/forwarding.ts'
import type { McpRequest } from '../core/mcp-request.ts'
import type { Principal } from '../core/principal.ts'
import type { DoorAudit } from '../store/door-audit.ts'
import { CallAudit } from './call-audit.ts'
import { LegacySessions } from './legacy-sessions.ts'
import { createListChanges } from './list-changes.ts'
import { ModernClients } from './modern.ts'
import { PendingElicitations } from './pending-elicitations.ts'
import { eraOf, type McpView, readRaw, toView } from './requests.ts'
import { listTools, type McpServerDeps } from './server.ts'
import { Subscriptions } from './subscriptions.ts'
import { ToolList } from './tool-list.ts'
import { onlyWider } from './upstream-servers.ts'

export interface McpEndpointDeps
  extends Omit<McpServerDeps, 'audit' | 'pending' | 'serverInfo' | 'setLogLevel'> {
  version: string
  refuse: DoorAudit['refuse']
  /** Returns the names of the configured toolsets. */
  toolsets: () => readonly string[]
}

export type McpEndpoint = ReturnType<typeof createMcpEndpoint>

/** Creates MCP over Streamable HTTP for clients of both eras. Disposing ends all sessions and streams. */
export function createMcpEndpoint({ version, refuse, toolsets, ...given }: McpEndpointDeps) {
  const { servers, gives, hub, log } = given
  const { store, clock, newId, redact } = hub
  const audit = new CallAudit({ store, clock, newId, redact, log, refuse })
  const pending = new PendingElicitations(given.clock)
  const deps = {
    ...given,
    audit,
    pending,
    serverInfo: { name: 'superbloom', title: 'Superbloom', version },
    setLogLevel: onlyWider(servers.setLogLevel),
    subscriptions: new Subscriptions(uris => servers.subscribe(uris)),
  }
  const toolList = new ToolList(deps)
  const modern = new ModernClients({ ...deps, toolList })
  const sessions = new LegacySessions({ ...deps, toolList, keptTogether: { characters: 0 } })
  const lists = createListChanges({ gives, toolsets, tools: () => listTools(deps) })
  return {
    /** Serves a request that was admitted; `body` is its parsed JSON. */
    async handle(
      request: McpRequest,
      response: ServerResponse,
      body: unknown,
      principal: Principal,
    ): Promise<void> {
      const view = toView(request.url)
      if (view.toolset !== undefined) checkToolset(view.toolset, toolsets())
      const era = eraOf(request)
      const raw = era && readRaw(request, body, era)
      const isLegacy = era === 'legacy' || (!raw && isLegacyRequest(request, body))
      await (isLegacy ? sessions : modern).serve(request, response, { body, raw, principal, view })
    },
    /** Notifies clients of changed lists; of tools only those clients whose own list changed. */
    changed(change: OfferChange): void {
      const changed = change.tools ? lists.look() : new Set()
      // A lean list never changes.
      const isAffected = ({ lean, toolset }: McpView) => !lean && changed.has(toolset)
      modern.changed(change, isAffected)
      sessions.changed(change, isAffected)
    },
    /** Notifies the clients that subscribed to a resource of its change. */
    updated(uri: string): void {
      if (!deps.subscriptions.has(uri)) return
      modern.updated(uri)
      sessions.updated(uri)
    },
    /** Forwards a notification that belongs to no request: log messages go to the clients that want them. */
    noticed: (method: string, params: JsonObject): void => sessions.noticed(method, params),
    async [Symbol.asyncDispose](): Promise<void> {
      pending[Symbol.dispose]()
      await Promise.all([modern[Symbol.asyncDispose](), sessions[Symbol.asyncDispose]()])
      await audit[Symbol.asyncDispose]()
    },
  }
}

function checkToolset(toolset: string, known: readonly string[]): void {
  if (known.includes(toolset)) return
  const there = known.length > 0 ? `there is ${known.join(', ')}` : 'none is configured'
  throw new HubError(
    'not_found',
    `There is no toolset ${toolset} at /mcp: ${there} (toolsets in the config).`,
  )
}

/** Asks the SDK whether a request is of the protocol's older era. */
function isLegacyRequest({ method, headers }: McpRequest, body: unknown): boolean {
  const text = (header: string | string[] | undefined) => (typeof header === 'string' ? header : undefined)
  const found = {
    protocolVersionHeader: text(headers['mcp-protocol-version']),
    mcpMethodHeader: text(headers['mcp-method']),
    mcpNameHeader: text(headers['mcp-name']),
  }
  const given = Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined))
  return classifyInboundRequest({ httpMethod: method, ...given, body }).kind === 'legacy'
}
