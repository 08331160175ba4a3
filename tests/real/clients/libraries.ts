import { createRecord } from '../../support/until.ts'
import {
  ANSWERS,
  type Args,
  bridgeOf,
  type ClientDriver,
  type OpenClient,
  type Place,
} from './open-client.ts'
import { importFrom } from './packages.ts'

/** MCP clients of other libraries. Types describe the used part of each, because they are installed later. */

const NAME = 'superbloom'

function headersOf({ token }: Place) {
  return { Authorization: `Bearer ${token}` }
}

interface AiSdk {
  createMCPClient(options: { transport: unknown; capabilities: Record<string, object> }): Promise<{
    listTools(): Promise<{ tools: { name: string }[] }>
    callTool(call: { name: string; arguments: Args; options?: { signal: AbortSignal } }): Promise<unknown>
    listResources(): Promise<{ resources: { uri: string }[] }>
    readResource(params: { uri: string }): Promise<unknown>
    listPrompts(): Promise<{ prompts: { name: string }[] }>
    getPrompt(params: { name: string; arguments: Record<string, string> }): Promise<unknown>
    complete(params: {
      ref: { type: 'ref/prompt'; name: string }
      argument: { name: string; value: string }
    }): Promise<unknown>
    onElicitationRequest(schema: unknown, handler: () => unknown): void
    close(): Promise<void>
  }>
  ElicitationRequestSchema: unknown
}
interface AiSdkStdio {
  Experimental_StdioMCPTransport: new (start: {
    command: string
    args: string[]
    env: Record<string, string>
  }) => unknown
}

async function openAiSdk(place: Place, over: 'HTTP' | 'stdio'): Promise<OpenClient> {
  const { createMCPClient, ElicitationRequestSchema } = await importFrom<AiSdk>('ai-sdk', '@ai-sdk/mcp')
  const transport =
    over === 'HTTP'
      ? { type: 'http', url: place.url, headers: headersOf(place) }
      : new (await importFrom<AiSdkStdio>('ai-sdk', '@ai-sdk/mcp/mcp-stdio')).Experimental_StdioMCPTransport(
          bridgeOf(place),
        )
  const client = await createMCPClient({ transport, capabilities: { elicitation: {} } })
  client.onElicitationRequest(ElicitationRequestSchema, () => ({
    action: 'accept',
    content: { name: ANSWERS.elicitation },
  }))
  const cancel: OpenClient['cancel'] = (name, args, signal) =>
    client.callTool({ name, arguments: args, options: { signal } })
  return {
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, args) => client.callTool({ name, arguments: args }),
    // Over stdio it does not report a cancellation to the server.
    ...(over === 'HTTP' ? { cancel } : {}),
    listResources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    readResource: uri => client.readResource({ uri }),
    listPrompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    getPrompt: (name, args) => client.getPrompt({ name, arguments: args }),
    complete: (name, argument, value) =>
      client.complete({ ref: { type: 'ref/prompt', name }, argument: { name: argument, value } }),
    answers: ['elicitation'],
    [Symbol.asyncDispose]: () => client.close(),
  }
}

interface AgentsServer {
  connect(): Promise<void>
  close(): Promise<void>
  listTools(): Promise<{ name: string }[]>
  callToolResult(name: string, args: Args, meta: null, options?: { signal: AbortSignal }): Promise<unknown>
  listResources(): Promise<{ resources: { uri: string }[] }>
  readResource(uri: string): Promise<unknown>
}
interface OpenAiAgents {
  MCPServerStreamableHttp: new (options: { url: string; requestInit: object }) => AgentsServer
  MCPServerStdio: new (options: {
    command: string
    args: string[]
    env: Record<string, string>
  }) => AgentsServer
}

async function openOpenAiAgents(place: Place, over: 'HTTP' | 'stdio'): Promise<OpenClient> {
  const agents = await importFrom<OpenAiAgents>('openai-agents', '@openai/agents')
  const server =
    over === 'HTTP'
      ? new agents.MCPServerStreamableHttp({ url: place.url, requestInit: { headers: headersOf(place) } })
      : new agents.MCPServerStdio(bridgeOf(place))
  await server.connect()
  return {
    listTools: async () => (await server.listTools()).map(({ name }) => name),
    call: (name, args) => server.callToolResult(name, args, null),
    cancel: (name, args, signal) => server.callToolResult(name, args, null, { signal }),
    listResources: async () => (await server.listResources()).resources.map(({ uri }) => uri),
    readResource: uri => server.readResource(uri),
    [Symbol.asyncDispose]: () => server.close(),
  }
}

interface LangChain {
  MultiServerMCPClient: new (
    options: object,
  ) => {
    getTools(): Promise<
      { name: string; invoke(call: object, options?: { signal: AbortSignal }): Promise<unknown> }[]
    >
    listResources(): Promise<Record<string, { uri: string }[]>>
    readResource(server: string, uri: string): Promise<unknown>
    close(): Promise<void>
  }
}

async function openLangChain(place: Place, over: 'HTTP' | 'stdio'): Promise<OpenClient> {
  const { MultiServerMCPClient } = await importFrom<LangChain>('langchain', '@langchain/mcp-adapters')
  const progress = createRecord<number>()
  const changes = createRecord<string>()
  const server =
    over === 'HTTP'
      ? { transport: 'http', url: place.url, headers: headersOf(place) }
      : { transport: 'stdio', ...bridgeOf(place) }
  const client = new MultiServerMCPClient({
    mcpServers: { [NAME]: server },
    onProgress: (one: { progress: number }) => progress.add(one.progress),
    onToolsListChanged: () => changes.add('tools'),
  })
  const call = async (name: string, args: Args, options?: { signal: AbortSignal }) => {
    const tool = (await client.getTools()).find(one => one.name === name)
    if (!tool) throw new Error(`There is no tool ${name}`)
    return tool.invoke({ type: 'tool_call', id: '1', name, args }, options)
  }
  return {
    listTools: async () => (await client.getTools()).map(({ name }) => name),
    call,
    async progress(name, args) {
      const before = progress.all.length
      await call(name, args)
      return progress.all.slice(before)
    },
    cancel: (name, args, signal) => call(name, args, { signal }),
    listResources: async () => (await client.listResources())[NAME]?.map(({ uri }) => uri) ?? [],
    readResource: uri => client.readResource(NAME, uri),
    watchTools: async () => () => changes.find('the tools changed', () => true),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

interface McpClientPackage {
  MCPClient: new (info: {
    name: string
    version: string
  }) => {
    connect(target: object): Promise<void>
    getAllTools(): Promise<{ name: string }[]>
    getAllResources(): Promise<{ uri: string }[]>
    getAllPrompts(): Promise<{ name: string }[]>
    callTool(call: { name: string; arguments: Args }, options?: { requestOptions: object }): Promise<unknown>
    complete(params: object): Promise<unknown>
    getResource(params: { uri: string }): Promise<unknown>
    getPrompt(params: { name: string; arguments: Args }): Promise<unknown>
    close(): Promise<void>
  }
}

/** Opens mcp-client, which sends no headers, so it can reach the hub only by the bridge. */
async function openMcpClient(place: Place): Promise<OpenClient> {
  const { MCPClient } = await importFrom<McpClientPackage>('mcp-client', 'mcp-client')
  const client = new MCPClient({ name: 'superbloom-tests', version: '1.0.0' })
  await client.connect({ type: 'stdio', ...bridgeOf(place), stderr: 'ignore' })
  const call = (name: string, args: Args, requestOptions: object = {}) =>
    client.callTool({ name, arguments: args }, { requestOptions })
  return {
    listTools: async () => (await client.getAllTools()).map(({ name }) => name),
    call: (name, args) => call(name, args),
    async progress(name, args) {
      const seen: number[] = []
      await call(name, args, { onProgress: (one: { progress: number }) => seen.push(one.progress) })
      return seen
    },
    cancel: (name, args, signal) => call(name, args, { signal }),
    listResources: async () => (await client.getAllResources()).map(({ uri }) => uri),
    readResource: uri => client.getResource({ uri }),
    listPrompts: async () => (await client.getAllPrompts()).map(({ name }) => name),
    getPrompt: (name, args) => client.getPrompt({ name, arguments: args }),
    complete: (name, argument, value) =>
      client.complete({ ref: { type: 'ref/prompt', name }, argument: { name: argument, value } }),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

interface McpJam {
  MCPClientManager: new (
    servers: object,
  ) => {
    connectToServer(name: string, config: object): Promise<unknown>
    listTools(name: string): Promise<{ tools: { name: string }[] }>
    executeTool(name: string, tool: string, args: Args, options?: object): Promise<unknown>
    listResources(name: string): Promise<{ resources: { uri: string }[] }>
    readResource(name: string, params: { uri: string }): Promise<unknown>
    subscribeResource(name: string, params: { uri: string }): Promise<unknown>
    listPrompts(name: string): Promise<{ prompts: { name: string }[] }>
    getPrompt(name: string, params: { name: string; arguments: Args }): Promise<unknown>
    addNotificationHandler(name: string, method: string, handler: () => void): void
    onResourceUpdated(name: string, handler: (note: { params: { uri: string } }) => void): void
    setElicitationHandler(name: string, handler: () => unknown): void
    disconnectAllServers(): Promise<void>
  }
}

async function openMcpJam(place: Place, over: 'HTTP' | 'stdio'): Promise<OpenClient> {
  const { MCPClientManager } = await importFrom<McpJam>('mcpjam', '@mcpjam/sdk')
  const manager = new MCPClientManager({})
  const config =
    over === 'HTTP' ? { url: place.url, requestInit: { headers: headersOf(place) } } : bridgeOf(place)
  const changes = createRecord<string>()
  await manager.connectToServer(NAME, { ...config, capabilities: { elicitation: {} } })
  manager.setElicitationHandler(NAME, () => ({ action: 'accept', content: { name: ANSWERS.elicitation } }))
  manager.addNotificationHandler(NAME, 'notifications/tools/list_changed', () => changes.add('tools'))
  manager.onResourceUpdated(NAME, ({ params }) => changes.add(params.uri))
  return {
    listTools: async () => (await manager.listTools(NAME)).tools.map(({ name }) => name),
    call: (tool, args) => manager.executeTool(NAME, tool, args),
    async progress(tool, args) {
      const seen: number[] = []
      await manager.executeTool(NAME, tool, args, {
        onprogress: (one: { progress: number }) => seen.push(one.progress),
      })
      return seen
    },
    cancel: (tool, args, signal) => manager.executeTool(NAME, tool, args, { signal }),
    listResources: async () => (await manager.listResources(NAME)).resources.map(({ uri }) => uri),
    readResource: uri => manager.readResource(NAME, { uri }),
    listPrompts: async () => (await manager.listPrompts(NAME)).prompts.map(({ name }) => name),
    getPrompt: (name, args) => manager.getPrompt(NAME, { name, arguments: args }),
    watchTools: async () => () => changes.find('the tools changed', one => one === 'tools'),
    async watchResource(uri) {
      await manager.subscribeResource(NAME, { uri })
      return () => changes.find('the resource changed', one => one === uri)
    },
    answers: ['elicitation'],
    [Symbol.asyncDispose]: () => manager.disconnectAllServers(),
  }
}

const both = ['HTTP', 'stdio'] as const

export const libraries: readonly ClientDriver[] = [
  ...both.map(over => ({
    name: '@ai-sdk/mcp',
    over,
    of: '@ai-sdk/mcp',
    installed: 'ai-sdk' as const,
    open: (place: Place) => openAiSdk(place, over),
  })),
  ...both.map(over => ({
    name: '@openai/agents',
    over,
    of: '@openai/agents',
    installed: 'openai-agents' as const,
    open: (place: Place) => openOpenAiAgents(place, over),
  })),
  ...both.map(over => ({
    name: '@langchain/mcp-adapters',
    over,
    of: '@langchain/mcp-adapters',
    installed: 'langchain' as const,
    open: (place: Place) => openLangChain(place, over),
  })),
  { name: 'mcp-client', over: 'stdio', of: 'mcp-client', installed: 'mcp-client', open: openMcpClient },
  ...both.map(over => ({
    name: '@mcpjam/sdk',
    over,
    of: '@mcpjam/sdk',
    installed: 'mcpjam' as const,
    open: (place: Place) => openMcpJam(place, over),
  })),
]
