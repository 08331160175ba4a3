import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioClientTransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as StreamableHTTPClientTransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { createRecord } from '../../support/until.ts'
import {
  ANSWERS,
  type Args,
  bridgeOf,
  type ClientDriver,
  type OpenClient,
  type Place,
  type Told,
} from './open-client.ts'

/**
 * The clients of the official SDKs, of both lines, and mcp-remote, which connects such a client to an
 * address.
 */

const INFO = { name: 'superbloom-tests', version: '1.0.0' }
const CAPABILITIES = { sampling: {}, elicitation: { form: {} }, roots: {} }
const SAMPLED = {
  role: 'assistant' as const,
  content: { type: 'text' as const, text: ANSWERS.sampling },
  model: 'none',
}
const ELICITED = { action: 'accept' as const, content: { name: ANSWERS.elicitation } }
const ROOTS = { roots: [{ uri: ANSWERS.roots, name: 'home' }] }

interface CallOptions {
  signal?: AbortSignal
  onprogress?: (progress: { progress: number }) => void
}

/** The methods that the clients of both lines share. */
interface SdkClient {
  listTools(): Promise<{ tools: { name: string }[] }>
  listResources(): Promise<{ resources: { uri: string }[] }>
  readResource(params: { uri: string }): Promise<unknown>
  listPrompts(): Promise<{ prompts: { name: string }[] }>
  getPrompt(params: { name: string; arguments: Record<string, string> }): Promise<unknown>
  complete(params: {
    ref: { type: 'ref/prompt'; name: string }
    argument: { name: string; value: string }
  }): Promise<unknown>
  close(): Promise<void>
}

interface Watching {
  tools: () => Promise<Told>
  resource: (uri: string) => Promise<Told>
}

function toOpenClient(
  client: SdkClient,
  call: (tool: string, args: Args, options: CallOptions) => Promise<unknown>,
  watch: Watching,
): OpenClient {
  return {
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (tool, args) => call(tool, args, {}),
    async progress(tool, args) {
      const seen: number[] = []
      await call(tool, args, { onprogress: ({ progress }) => seen.push(progress) })
      return seen
    },
    cancel: (tool, args, signal) => call(tool, args, { signal }),
    listResources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    readResource: uri => client.readResource({ uri }),
    listPrompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    getPrompt: (name, args) => client.getPrompt({ name, arguments: args }),
    complete: (name, argument, value) =>
      client.complete({ ref: { type: 'ref/prompt', name }, argument: { name: argument, value } }),
    watchTools: watch.tools,
    watchResource: watch.resource,
    answers: ['sampling', 'elicitation', 'roots'],
    [Symbol.asyncDispose]: () => client.close(),
  }
}

type Target = { url: string; token: string } | Start
interface Start {
  command: string
  args: string[]
  env: Record<string, string>
}

async function openV2(target: Target, isModern: boolean): Promise<OpenClient> {
  const mode = isModern ? { pin: '2026-07-28' as const } : 'legacy'
  const client = new Client(INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode } })
  client.setRequestHandler('sampling/createMessage', () => SAMPLED)
  client.setRequestHandler('elicitation/create', () => ELICITED)
  client.setRequestHandler('roots/list', () => ROOTS)
  await client.connect(
    'url' in target
      ? new StreamableHTTPClientTransport(new URL(target.url), withToken(target.token))
      : new StdioClientTransport({ ...target, stderr: 'ignore' }),
  )
  const changes = createRecord<string>()
  client.setNotificationHandler('notifications/tools/list_changed', () => changes.add('tools'))
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => changes.add(params.uri))
  return toOpenClient(client, (name, args, options) => client.callTool({ name, arguments: args }, options), {
    async tools() {
      if (isModern) await client.listen({ toolsListChanged: true })
      return () => changes.find('the tools changed', one => one === 'tools')
    },
    async resource(uri) {
      if (!isModern) await client.subscribeResource({ uri })
      else if (!(await client.listen({ resourceSubscriptions: [uri] })).honoredFilter.resourceSubscriptions)
        throw new Error('The hub does not tell of it')
      return () => changes.find('the resource changed', one => one === uri)
    },
  })
}

async function openV1(target: Target): Promise<OpenClient> {
  const client = new ClientV1(INFO, { capabilities: CAPABILITIES })
  client.setRequestHandler(CreateMessageRequestSchema, () => SAMPLED)
  client.setRequestHandler(ElicitRequestSchema, () => ELICITED)
  client.setRequestHandler(ListRootsRequestSchema, () => ROOTS)
  const transport =
    'url' in target
      ? new StreamableHTTPClientTransportV1(new URL(target.url), withToken(target.token))
      : new StdioClientTransportV1({ ...target, stderr: 'ignore' })
  await client.connect(transport as TransportV1)
  const changes = createRecord<string>()
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => changes.add('tools'))
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => changes.add(params.uri))
  const call = (name: string, args: Args, options: CallOptions) =>
    client.callTool({ name, arguments: args }, CallToolResultSchema, options)
  return toOpenClient(client, call, {
    tools: async () => () => changes.find('the tools changed', one => one === 'tools'),
    async resource(uri) {
      await client.subscribeResource({ uri })
      return () => changes.find('the resource changed', one => one === uri)
    },
  })
}

function withToken(token: string) {
  return { requestInit: { headers: { Authorization: `Bearer ${token}` } } }
}

/**
 * Opens mcp-remote. It writes a progress notification and the result in one piece, of which the SDK's client
 * sometimes loses the notification, so progress is not counted as a feature.
 */
async function openMcpRemote(place: Place): Promise<OpenClient> {
  const { progress: _, ...client } = await openV1(mcpRemote(place))
  return client
}

function mcpRemote({ url, token, folder }: Place): Start {
  const manifest = createRequire(import.meta.url).resolve('mcp-remote/package.json')
  const proxy = join(dirname(manifest), 'dist', 'proxy.js')
  return {
    command: process.execPath,
    args: [proxy, url, '--allow-http', '--header', `Authorization: Bearer ${token}`],
    env: { HOME: folder, PATH: String(process.env['PATH']), MCP_REMOTE_CONFIG_DIR: folder },
  }
}

const SDK2 = '@modelcontextprotocol/client'
const SDK1 = '@modelcontextprotocol/sdk'

export const official: readonly ClientDriver[] = [
  { name: `${SDK2}, 2026-07-28`, over: 'HTTP', of: SDK2, open: place => openV2(place, true) },
  { name: `${SDK2}, 2026-07-28`, over: 'stdio', of: SDK2, open: place => openV2(bridgeOf(place), true) },
  { name: `${SDK2}, legacy`, over: 'HTTP', of: SDK2, open: place => openV2(place, false) },
  { name: `${SDK2}, legacy`, over: 'stdio', of: SDK2, open: place => openV2(bridgeOf(place), false) },
  { name: SDK1, over: 'HTTP', of: SDK1, open: place => openV1(place) },
  { name: SDK1, over: 'stdio', of: SDK1, open: place => openV1(bridgeOf(place)) },
  { name: 'mcp-remote', over: 'stdio', of: 'mcp-remote', open: openMcpRemote },
]
