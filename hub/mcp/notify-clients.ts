import type { McpEndpoint } from './endpoint.ts'
import { watchHubResources } from './hub-resources/watch-hub-resources.ts'
import { LOG_MESSAGE } from './upstream-servers.ts'

/** Sends clients the notifications of changes, until the stack is disposed of. */
export function notifyClients(
  deps: Parameters<typeof watchHubResources>[0],
  mcp: McpEndpoint,
  stack: AsyncDisposableStack,
): void {
  const { signals } = deps
  const none = { tools: false, resources: false, prompts: false }
  stack.defer(signals.on('servers', mcp.changed))
  stack.defer(signals.on('config', () => mcp.changed({ ...none, tools: true })))
  stack.defer(signals.on('resourceUpdated', ({ uri }) => mcp.updated(uri)))
  stack.defer(
    signals.on('serverNotice', ({ server, method, params }) => {
      const { logger } = params
      const name = typeof logger === 'string' ? `${server}/${logger}` : server
      mcp.noticed(method, method === LOG_MESSAGE ? { ...params, logger: name } : params)
    }),
  )
  stack.use(
    watchHubResources(deps, {
      updated: mcp.updated,
      listChanged: () => mcp.changed({ ...none, resources: true }),
      promptsChanged: () => mcp.changed({ ...none, prompts: true }),
    }),
  )
}
