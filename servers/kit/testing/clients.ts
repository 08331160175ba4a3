import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as OldHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport as OldTransport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { type EventFeed, eventFeed } from '../../../schemas/events.ts'
import { systemClock } from '../clock.ts'
import { compileCache } from './compile-cache.ts'

/** The official clients that every server must serve. */
export const CLIENT_KINDS = ['2.x, negotiating', '2.x, legacy', '1.x'] as const
export type ClientKind = (typeof CLIENT_KINDS)[number]

export type Target =
  | { kind: 'stdio'; command: string; args: string[]; env: Record<string, string> }
  | { kind: 'http'; url: string; token: string }

interface ToolResult {
  isError: boolean
  text: string
  structured: unknown
}

/** The interface of all clients in tests. */
export interface TestClient extends AsyncDisposable {
  /** `modern` is 2026-07-28. */
  readonly era: 'modern' | 'legacy'
  /** Process id of the server, on stdio. */
  readonly pid: number | undefined
  listTools(): Promise<
    { name: string; description?: string | undefined; inputSchema: object; outputSchema?: object }[]
  >
  /**
   * Calls a tool. The client itself checks structured content against the tool's output schema, and rejects
   * if it does not fit.
   */
  call(
    name: string,
    args?: Record<string, unknown>,
    onProgress?: (note: { progress: number }) => void,
  ): Promise<ToolResult>
  readText(uri: string): Promise<string>
  listUris(): Promise<string[]>
  readEvents(uri: string): Promise<EventFeed>
  /** Subscribes as the era prescribes. */
  subscribe(uri: string): Promise<void>
  /** Resolves with the URI of the next resource-updated notification that was not awaited yet. */
  nextUpdate(): Promise<string>
}

/** Connects a client; `name` is its client name. */
export function connectClient(kind: ClientKind, target: Target, name = 'test'): Promise<TestClient> {
  switch (kind) {
    case '2.x, negotiating':
      return connectNew(target, name, 'auto')
    case '2.x, legacy':
      return connectNew(target, name, 'legacy')
    case '1.x':
      return connectOld(target, name)
    default:
      return kind satisfies never
  }
}

/** Resolves as `promise` does, or rejects with an error that names `what` after ten seconds. */
export async function within<T>(what: string, promise: PromiseLike<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const cancel = systemClock.after(10_000, () => late.reject(new Error(`${what}: nothing within 10 s`)))
  return Promise.race([promise, late.promise]).finally(cancel)
}

async function connectNew(target: Target, name: string, mode: 'auto' | 'legacy'): Promise<TestClient> {
  const client = new Client({ name, version: '1' }, { versionNegotiation: { mode } })
  const updates = createQueue()
  client.setNotificationHandler('notifications/resources/updated', note => updates.push(note.params.uri))
  const transport =
    target.kind === 'stdio'
      ? new StdioClientTransport({ ...target, env: { ...compileCache(), ...target.env }, stderr: 'inherit' })
      : new StreamableHTTPClientTransport(new URL(target.url), withToken(target.token))
  await client.connect(transport)
  await client.listTools()
  const progress = hearProgress(transport)
  const era = client.getProtocolEra() === 'modern' ? 'modern' : 'legacy'
  return {
    era,
    pid: transport instanceof StdioClientTransport ? (transport.pid ?? undefined) : undefined,
    listTools: async () => (await client.listTools()).tools as Awaited<ReturnType<TestClient['listTools']>>,
    call: async (name, args = {}, onProgress) =>
      toResult(await client.callTool({ name, arguments: args }, progress(onProgress))),
    readText: async uri => toText(await client.readResource({ uri })),
    listUris: async () => [
      ...(await client.listResources()).resources.map(({ uri }) => uri),
      ...(await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    ],
    readEvents: async uri => toFeed(await client.readResource({ uri })),
    async subscribe(uri) {
      if (era === 'modern') await client.listen({ resourceSubscriptions: [uri] })
      else await client.subscribeResource({ uri })
    },
    nextUpdate: updates.next,
    [Symbol.asyncDispose]: () => client.close(),
  }
}

async function connectOld(target: Target, name: string): Promise<TestClient> {
  const client = new OldClient({ name, version: '1' })
  const updates = createQueue()
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, note => updates.push(note.params.uri))
  const transport =
    target.kind === 'stdio'
      ? new OldStdioTransport({ ...target, env: { ...compileCache(), ...target.env }, stderr: 'inherit' })
      : new OldHttpTransport(new URL(target.url), withToken(target.token))
  await client.connect(transport as OldTransport)
  await client.listTools()
  const progress = hearProgress(transport)
  return {
    era: 'legacy',
    pid: transport instanceof OldStdioTransport ? (transport.pid ?? undefined) : undefined,
    listTools: async () => (await client.listTools()).tools as Awaited<ReturnType<TestClient['listTools']>>,
    call: async (name, args = {}, onProgress) =>
      toResult(await client.callTool({ name, arguments: args }, undefined, progress(onProgress))),
    readText: async uri => toText(await client.readResource({ uri })),
    listUris: async () => [
      ...(await client.listResources()).resources.map(({ uri }) => uri),
      ...(await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    ],
    readEvents: async uri => toFeed(await client.readResource({ uri })),
    subscribe: async uri => void (await client.subscribeResource({ uri })),
    nextUpdate: updates.next,
    [Symbol.asyncDispose]: () => client.close(),
  }
}

function withToken(token: string) {
  return { requestInit: { headers: { authorization: `Bearer ${token}` } } }
}

function toResult(result: Record<string, unknown>): ToolResult {
  const content = (result.content ?? []) as { type: string; text?: string }[]
  return {
    isError: result.isError === true,
    text: content.map(part => part.text ?? '').join('\n'),
    structured: result.structuredContent,
  }
}

/**
 * Listens for progress on the transport: the clients drop a notification that arrives in the same read as the
 * result, since they handle results at once and notifications a moment later.
 */
function hearProgress(transport: { onmessage?: ((message: never, extra?: never) => void) | undefined }) {
  let hear: ((note: { progress: number }) => void) | undefined
  const pass = transport.onmessage
  transport.onmessage = (message: Message, extra?: never) => {
    if (message.method === 'notifications/progress' && message.params) hear?.(message.params)
    pass?.(message as never, extra)
  }
  return (onProgress: typeof hear) => {
    hear = onProgress
    return onProgress === undefined ? {} : { onprogress: () => undefined }
  }
}

interface Message {
  method?: string
  params?: { progress: number }
}

function toText(result: { contents: object[] }): string {
  const first = result.contents[0]
  return first && 'text' in first ? String(first.text) : ''
}

function toFeed(result: { contents: object[] }): EventFeed {
  return eventFeed.parse(JSON.parse(toText(result)))
}

function createQueue() {
  const items: string[] = []
  let arrived = Promise.withResolvers<void>()
  return {
    push(item: string) {
      items.push(item)
      arrived.resolve()
    },
    async next(): Promise<string> {
      for (;;) {
        const item = items.shift()
        if (item !== undefined) return item
        arrived = Promise.withResolvers()
        await within('a resource-updated notification', arrived.promise)
      }
    },
  }
}
