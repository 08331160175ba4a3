import {
  CLIENT_INFO_META_KEY,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { CALL_POWER } from '../../schemas/power.ts'
import { readsText, toTextResult, toTextTool } from '../../schemas/text-readers.ts'
import { toCursor } from './events.ts'
import { toHealthUri } from './health.ts'
import { describeError, type Log } from './log.ts'
import type { ProgressNote } from './progress.ts'
import type { App } from './server.ts'

/** The key of a call's `_meta` that holds its idempotency key. */
const IDEMPOTENCY_KEY = 'superbloom/idempotencyKey'
const JSON_TYPE = 'application/json'

/**
 * Creates the protocol server of one connection (or, over HTTP of 2026-07-28, of one request). It is the
 * SDK's low-level `Server`: schemas are converted once per tool and not once per request, and failures have
 * our own words.
 */
export function createProtocolServer(app: App, { era }: Pick<McpRequestContext, 'era'>): Server {
  const { name, version, title, instructions } = app.definition
  const server = new Server(
    { name, version, title },
    { capabilities: { tools: {}, resources: { subscribe: true } }, instructions },
  )
  server.onerror = error => app.log('warn', 'protocol error', { error })
  serveTools(server, app)
  serveResources(server, app)
  if (era === 'legacy') serveSubscriptions(server, app)
  return server
}

/**
 * Sends resource-updated notifications of new events. On a connection of 2026-07-28 over stdio, the SDK
 * forwards them to the `subscriptions/listen` streams that requested them. `wanted` tells whether the client
 * is subscribed.
 */
export function announceEvents(server: Server, app: App, wanted: () => boolean = () => true): void {
  const stop = app.events.onChange(() => {
    if (!wanted()) return
    server
      .sendResourceUpdated({ uri: app.events.uri })
      .catch(error => app.log('warn', 'notification not sent', { error: describeError(error) }))
  })
  const closed = server.onclose
  server.onclose = () => {
    stop()
    closed?.()
  }
}

function serveTools(server: Server, app: App): void {
  const listed = { tools: [...app.tools.values()].map(tool => tool.listed) }
  const forText = { tools: listed.tools.map(toTextTool) }
  const isForText = (context: ServerContext) => readsText(clientOf(server, context))
  server.setRequestHandler('tools/list', (_request, context) => (isForText(context) ? forText : listed))
  server.setRequestHandler('tools/call', async (request, context) => {
    const tool = app.tools.get(request.params.name)
    if (!tool) {
      const names = [...app.tools.keys()].join(', ')
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `${app.definition.name} has no such tool; it has ${names}`,
      )
    }
    const { clock, log } = app
    const { signal } = context.mcpReq
    const meta: Record<string, unknown> = { ...context.mcpReq._meta, ...request.params._meta }
    const key = meta[IDEMPOTENCY_KEY]
    const idempotencyKey = typeof key === 'string' ? key : undefined
    const isForeign = meta[CALL_POWER] === 'foreign'
    const progress = toProgress(context, log)
    const result = await tool.call(request.params.arguments, {
      clock,
      log,
      signal,
      progress,
      idempotencyKey,
      isForeign,
      meta,
    })
    return isForText(context) ? toTextResult(result) : result
  })
}

/** Returns the client's name: it comes with each request since 2026-07-28, and with initialize before. */
function clientOf(server: Server, { mcpReq }: ServerContext): string {
  const envelope: Record<string, unknown> = { ...mcpReq.envelope }
  const told = envelope[CLIENT_INFO_META_KEY] ?? server.getClientVersion()
  return typeof told === 'object' && told !== null && 'name' in told ? String(told.name) : ''
}

/** Returns a sender of progress notifications; undefined if the request has no progress token. */
function toProgress({ mcpReq }: ServerContext, log: Log) {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return undefined
  return (note: ProgressNote) =>
    mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, ...note } })
      .catch(error => log('warn', 'progress not sent', { error: describeError(error) }))
}

function serveResources(server: Server, app: App): void {
  const { events, definition, health } = app
  const about = {
    title: `Events of ${definition.name}`,
    description: 'What happened here, as JSON: {stream, cursor, events}; subscribe to it to hear of more.',
    mimeType: JSON_TYPE,
  }
  const healthUri = toHealthUri(definition.name)
  const resources = [
    { uri: events.uri, name: 'events', ...about },
    ...(health ? [{ uri: healthUri, name: 'health', ...toHealthWords(definition.name) }] : []),
  ]
  const resourceTemplates = [{ uriTemplate: events.template, name: 'events-after', ...about }]
  server.setRequestHandler('resources/list', () => ({ resources }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates }))
  const toContents = (uri: string, value: unknown) => ({
    contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(value) }],
  })
  server.setRequestHandler('resources/read', async request => {
    const { uri } = request.params
    if (health && uri === healthUri) return toContents(uri, await health())
    const after = toCursor(events.uri, uri)
    if (after === undefined) throw new ResourceNotFoundError(uri)
    return toContents(uri, events.read(after))
  })
}

function toHealthWords(server: string) {
  return {
    title: `Health of ${server}`,
    description: 'Which upstreams answer now, as JSON: {ok, upstreams}. Reading it asks them.',
    mimeType: JSON_TYPE,
  }
}

/**
 * Serves subscriptions before 2026-07-28: a client subscribes by request, and is notified only of its
 * subscriptions.
 */
function serveSubscriptions(server: Server, app: App): void {
  let subscribed = false
  const check = (uri: string) => {
    if (uri !== app.events.uri) throw new ResourceNotFoundError(uri)
  }
  server.setRequestHandler('resources/subscribe', request => {
    check(request.params.uri)
    subscribed = true
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', request => {
    check(request.params.uri)
    subscribed = false
    return {}
  })
  announceEvents(server, app, () => subscribed)
}
