import { PassThrough } from 'node:stream'
import {
  type CallToolResult,
  Client,
  StreamableHTTPClientTransport,
  type Tool,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioClientTransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as StreamableHTTPClientTransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js'
import { CallToolResultSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { compileCache } from '../../servers/kit/testing/compile-cache.ts'
import { createRecord } from './until.ts'

/** An MCP server's address, or the process to start. */
export type Target =
  | { url: string; token: string; path?: string }
  | { command: string; args: string[]; env: Record<string, string>; cwd?: string }

export interface CallOptions {
  onProgress?: (progress: {
    progress: number
    total?: number | undefined
    message?: string | undefined
  }) => void
  signal?: AbortSignal
}

/**
 * A client of one of the official SDKs, with one interface for all. It checks structured results against the
 * tools' schemas.
 */
export interface TestClient extends AsyncDisposable {
  readonly line: Line
  listTools(): Promise<Tool[]>
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<CallToolResult>
  /** Subscribes to changes in the way of the client's era; each change adds an entry. */
  watchTools(): Promise<ReturnType<typeof createRecord<'changed'>>>
  /** Id of the process that it started, if any. */
  readonly pid: number | null
  /** Returns what that process has written to stderr. */
  readonly stderr: () => string
}

export const LINES = ['sdk 2, 2026-07-28', 'sdk 2, legacy', 'sdk 1'] as const
export type Line = (typeof LINES)[number]

const INFO = { name: 'superbloom-tests', version: '1.0.0' }
const TIMEOUT_MS = 30_000

/** Opens a client. `name` is the name that it reports. */
export async function openClient(line: Line, target: Target, name = INFO.name): Promise<TestClient> {
  return line === 'sdk 1' ? openV1(target, name) : openV2(line, target, name)
}

async function openV2(line: Line, target: Target, name: string): Promise<TestClient> {
  const isModern = line === 'sdk 2, 2026-07-28'
  const client = new Client(
    { ...INFO, name },
    {
      versionNegotiation: { mode: isModern ? { pin: '2026-07-28' } : 'legacy' },
    },
  )
  const { transport, stderr } = createTransport(target, StreamableHTTPClientTransport, StdioClientTransport)
  await client.connect(transport, { timeout: TIMEOUT_MS })
  return {
    line,
    listTools: async () => (await client.listTools(undefined, { cacheMode: 'refresh' })).tools,
    call: (name, args = {}, options = {}) =>
      client.callTool({ name, arguments: args }, { timeout: TIMEOUT_MS, ...toRequestOptions(options) }),
    async watchTools() {
      const changes = createRecord<'changed'>()
      client.setNotificationHandler('notifications/tools/list_changed', () => changes.add('changed'))
      if (isModern) await client.listen({ toolsListChanged: true })
      return changes
    },
    get pid() {
      return 'pid' in transport ? transport.pid : null
    },
    stderr,
    [Symbol.asyncDispose]: () => client.close(),
  }
}

async function openV1(target: Target, name: string): Promise<TestClient> {
  const client = new ClientV1({ ...INFO, name })
  const { transport, stderr } = createTransport(
    target,
    StreamableHTTPClientTransportV1,
    StdioClientTransportV1,
  )
  await client.connect(transport as TransportV1, { timeout: TIMEOUT_MS })
  return {
    line: 'sdk 1',
    listTools: async () => (await client.listTools()).tools as Tool[],
    call: async (name, args = {}, options = {}) =>
      (await client.callTool({ name, arguments: args }, CallToolResultSchema, {
        timeout: TIMEOUT_MS,
        ...toRequestOptions(options),
      })) as CallToolResult,
    async watchTools() {
      const changes = createRecord<'changed'>()
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => changes.add('changed'))
      return changes
    },
    get pid() {
      return 'pid' in transport ? transport.pid : null
    },
    stderr,
    [Symbol.asyncDispose]: () => client.close(),
  }
}

function toRequestOptions({ onProgress, signal }: CallOptions) {
  return { ...(onProgress ? { onprogress: onProgress } : {}), ...(signal ? { signal } : {}) }
}

/** Creates either SDK's transport: their constructors are alike. */
function createTransport<Http, Stdio extends { stderr: unknown }>(
  target: Target,
  HttpTransport: new (url: URL, options: { requestInit: RequestInit }) => Http,
  StdioTransport: new (server: {
    command: string
    args: string[]
    env: Record<string, string>
    stderr: 'pipe'
    cwd?: string
  }) => Stdio,
): { transport: Http | Stdio; stderr: () => string } {
  if ('url' in target) {
    const headers = { Authorization: `Bearer ${target.token}` }
    const transport = new HttpTransport(new URL(target.path ?? '/mcp', target.url), {
      requestInit: { headers },
    })
    return { transport, stderr: () => '' }
  }
  const transport = new StdioTransport({
    ...target,
    env: { ...compileCache(), ...target.env },
    stderr: 'pipe',
  })
  let text = ''
  if (transport.stderr instanceof PassThrough) {
    transport.stderr.on('data', chunk => {
      text += String(chunk)
    })
  }
  return { transport, stderr: () => text }
}

/** Returns the text of a result. */
export function textOf(result: CallToolResult): string {
  return result.content.map(block => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n')
}
