import {
  type CallToolRequest,
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server'
import { describeError, HubError, toPublicError } from '../core/errors.ts'
import { CALL_TOOL, FIND_TOOLS, type FoundTool, unwrapCall } from '../core/lean-tools.ts'
import type { Log } from '../core/log.ts'
import type { HubTool } from './hub-tools/hub-tool.ts'
import { fail, findTools, leanDefinitions } from './lean.ts'
import type { McpView } from './view.ts'

const INSTRUCTIONS =
  'A hub of homelab tools and persistent agents. Call a tool directly for one quick answer; use hub_chat to hand something to an agent, which remembers, watches and comes back.'

export interface ForwardOptions {
  signal: AbortSignal
  meta?: Record<string, unknown>
  onProgress?: (progress: {
    progress: number
    total?: number | undefined
    message?: string | undefined
  }) => void
}

export interface McpServerDeps {
  log: Log
  version: string
  hubTools: readonly HubTool[]
  /** The tools of all servers. */
  serverTools: () => readonly Tool[]
  /** Whether a toolset has a tool. */
  gives: (toolset: string, name: string) => boolean
  /** The tools that fit some words, the best first. */
  findTools: (query: string, limit: number, isGiven: (name: string) => boolean) => FoundTool[]
  /** Throws `not_found` and `unavailable`, and what the server answered with. */
  callServerTool: (
    name: string,
    args: Record<string, unknown>,
    options: ForwardOptions,
  ) => Promise<CallToolResult>
}

/** One MCP server as a client sees the hub; cheap, since one is made for each request of a modern client. */
export function createMcpServer(deps: McpServerDeps, token: string, view: McpView): Server {
  const server = new Server(
    { name: 'superbloom', title: 'Superbloom', version: deps.version },
    { capabilities: { tools: { listChanged: true } }, instructions: INSTRUCTIONS },
  )
  const isGiven = (name: string) => view.toolset === undefined || deps.gives(view.toolset, name)
  server.setRequestHandler('tools/list', () => ({
    tools: view.lean ? [...leanDefinitions] : listTools(deps).filter(tool => isGiven(tool.name)),
  }))
  server.setRequestHandler('tools/call', ({ params }, context) => {
    const find = (query: string, limit: number) => deps.findTools(query, limit, isGiven)
    if (view.lean && params.name === FIND_TOOLS) return findTools(params.arguments ?? {}, find)
    const meant = view.lean && params.name === CALL_TOOL ? unwrapCall(params.arguments) : params
    if (!meant) return fail(`call_tool takes name, and arguments as ${FIND_TOOLS} shows them.`)
    const { name } = meant
    if (!isGiven(name)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${name}`)
    return callTool(deps, token, { ...params, name, arguments: meant.arguments }, context)
  })
  return server
}

function listTools(deps: McpServerDeps): Tool[] {
  return [...deps.hubTools.map(tool => tool.definition as Tool), ...deps.serverTools()]
}

async function callTool(
  deps: McpServerDeps,
  token: string,
  params: CallToolRequest['params'],
  context: ServerContext,
): Promise<CallToolResult> {
  const notify = createProgress(context, deps.log)
  const { signal } = context.mcpReq
  const hubTool = deps.hubTools.find(tool => tool.definition.name === params.name)
  try {
    if (hubTool) return await runHubTool(hubTool, params.arguments, { token, signal, notify })
    return await deps.callServerTool(params.name, params.arguments ?? {}, {
      signal,
      ...(notify ? { onProgress: notify } : {}),
    })
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    if (error instanceof HubError && error.code === 'not_found' && !hubTool) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message)
    }
    if (hubTool && toPublicError(error).status >= 500)
      deps.log.error('hub_tool_failed', { tool: params.name, error })
    const text = hubTool ? toPublicError(error).message : describeError(error)
    return { content: [{ type: 'text', text }], isError: true }
  }
}

type Notify = NonNullable<ForwardOptions['onProgress']>

async function runHubTool(
  tool: HubTool,
  args: unknown,
  call: { token: string; signal: AbortSignal; notify: Notify | undefined },
): Promise<CallToolResult> {
  let count = 0
  const progress = (message: string) => call.notify?.({ progress: ++count, message })
  const { structured, text } = await tool.run(args, { token: call.token, signal: call.signal, progress })
  return { content: [{ type: 'text', text }], structuredContent: structured }
}

/** Sends progress to a client that asked for it; undefined for one that did not. */
function createProgress(context: ServerContext, log: Log): Notify | undefined {
  const progressToken = context.mcpReq._meta?.progressToken
  if (progressToken === undefined) return undefined
  return progress => {
    context.mcpReq
      .notify({ method: 'notifications/progress', params: { ...progress, progressToken } })
      .catch(error => log.debug('progress_not_sent', { error }))
  }
}
