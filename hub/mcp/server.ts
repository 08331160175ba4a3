import {
  type CallToolRequest,
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server'
import { hasWholeText, readsText, toTextResult, toTextTool } from '../../schemas/text-readers.ts'
import { describeError, HubError, toPublicError } from '../core/errors.ts'
import type { ForwardOptions, JsonObject } from '../core/forwarding.ts'
import { CALL_TOOL, FIND_TOOLS, type FoundTool, unwrapCall } from '../core/lean-tools.ts'
import type { Log } from '../core/log.ts'
import { type Below, isLogged, LOG_MESSAGE, type LogLevel } from './below.ts'
import { declaredBy, runFor, toCaller } from './callers.ts'
import { createElicited, PAGE_DONE } from './elicited.ts'
import type { HubPrompts } from './hub-resources/hub-prompts.ts'
import type { HubResources } from './hub-resources/hub-resources.ts'
import type { HubTool } from './hub-tools/hub-tool.ts'
import { toInstructions } from './instructions.ts'
import { toFailure } from './lane.ts'
import { fail, findTools, leanDefinitions } from './lean.ts'
import type { Parked } from './parked.ts'
import type { McpView } from './view.ts'

export interface McpServerDeps {
  log: Log
  version: string
  hubTools: readonly HubTool[]
  hubResources: HubResources
  hubPrompts: HubPrompts
  below: Below
  /** Tells whether a toolset contains a tool. */
  gives: (toolset: string, name: string) => boolean
  /** Returns the tools that fit some words, the best first. */
  findTools: (query: string, limit: number, isGiven: (name: string) => boolean) => FoundTool[]
}

export function toServerInfo(version: string) {
  return { name: 'superbloom', title: 'Superbloom', version }
}

/** The client that a server is made for. */
export interface McpClient {
  token: string
  /** Key that is equal for all requests of one client. */
  key: string
  view: McpView
  /** Called when a legacy client subscribes to a resource, or no longer does. */
  onSubscribe?: (uri: string, wanted: boolean) => void
}

/** One MCP server as a client sees the hub; cheap, since one is made for each request of a modern client. */
export class McpServer {
  readonly key: string
  readonly server: Server
  readonly elicited = createElicited()
  readonly #deps: McpServerDeps & { parked: Parked }
  readonly #client: McpClient
  #logLevel: LogLevel | undefined

  constructor(deps: McpServerDeps & { parked: Parked }, client: McpClient) {
    this.#deps = deps
    this.#client = client
    this.key = client.key
    this.server = new Server(toServerInfo(deps.version), {
      capabilities: {
        // Lean mode's two tools never change, so its clients get no change notifications.
        tools: client.view.lean ? {} : { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
      },
      instructions: toInstructions(deps.below.instructions()),
    })
    this.#serveTools()
    this.#serveResources()
    this.#servePrompts()
    this.#serveSession()
  }

  get logLevel(): string | undefined {
    return this.#logLevel
  }

  /**
   * Sends what belongs to no request: log messages only to a client that wants them, and only the end of its
   * own pages.
   */
  tell(method: string, params: JsonObject): void {
    if (method === LOG_MESSAGE && !isLogged(params['level'], this.#logLevel)) return
    if (method === PAGE_DONE && !this.elicited.end(params['elicitationId'])) return
    this.server
      .notification({ method, params })
      .catch(error => this.#deps.log.debug('notice_not_sent', { method, error }))
  }

  /** Whether its client gets only the text of results; known for a session once it has initialized. */
  get readsText(): boolean {
    return readsText(this.server.getClientVersion()?.name ?? '')
  }

  #readsText({ mcpReq: { envelope } }: ServerContext): boolean {
    return envelope ? readsText(declaredBy({ ...envelope }).name) : this.readsText
  }

  #serveTools(): void {
    const { server } = this
    const { view } = this.#client
    server.setRequestHandler('tools/list', (_request, context) => {
      if (view.lean) return { tools: [...leanDefinitions] }
      const given = listTools(this.#deps).filter(({ name }) => this.#isGiven(name))
      return { tools: this.#readsText(context) ? given.map(toTextTool) : given }
    })
    server.setRequestHandler('tools/call', ({ params }, context) => {
      const { findTools: look } = this.#deps
      const find = (query: string, limit: number) => look(query, limit, name => this.#isGiven(name))
      if (view.lean && params.name === FIND_TOOLS) return findTools(params.arguments ?? {}, find)
      const meant = view.lean && params.name === CALL_TOOL ? unwrapCall(params.arguments) : params
      if (!meant) return fail(`call_tool takes name, and arguments as ${FIND_TOOLS} shows them.`)
      const { name } = meant
      if (!this.#isGiven(name))
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${name}`)
      return this.#callTool({ ...params, name, arguments: meant.arguments }, context)
    })
  }

  #serveResources(): void {
    const { server } = this
    const { below, hubResources } = this.#deps
    server.setRequestHandler('resources/list', async () => ({
      resources: [...(await hubResources.list()), ...below.resources()],
    }))
    server.setRequestHandler('resources/templates/list', () => ({
      resourceTemplates: [...hubResources.templates, ...below.resourceTemplates()],
    }))
    server.setRequestHandler('resources/read', async ({ params: { uri } }, context) => {
      try {
        if (hubResources.owns(uri)) return await hubResources.read(uri)
        return await this.#forward(context, options => below.readResource(uri, options))
      } catch (error) {
        throw error instanceof HubError && error.code === 'not_found'
          ? new ResourceNotFoundError(uri, error.message)
          : toProtocolError(error)
      }
    })
    server.setRequestHandler('resources/subscribe', ({ params }) => {
      this.#client.onSubscribe?.(params.uri, true)
      return {}
    })
    server.setRequestHandler('resources/unsubscribe', ({ params }) => {
      this.#client.onSubscribe?.(params.uri, false)
      return {}
    })
  }

  #servePrompts(): void {
    const { server } = this
    const { below, hubPrompts } = this.#deps
    const isOwn = (name: string) => hubPrompts.list().some(prompt => prompt.name === name)
    server.setRequestHandler('prompts/list', () => ({
      prompts: [...hubPrompts.list(), ...below.prompts().filter(({ name }) => !isOwn(name))],
    }))
    server.setRequestHandler('prompts/get', async ({ params: { name, arguments: args = {} } }, context) => {
      try {
        if (isOwn(name)) return hubPrompts.get(name, args)
        return await this.#forward(context, options => below.getPrompt(name, args, options))
      } catch (error) {
        throw toProtocolError(error)
      }
    })
    server.setRequestHandler('completion/complete', async ({ params }, context) => {
      const { ref, argument } = params
      try {
        if (ref.type === 'ref/prompt' && isOwn(ref.name))
          return toCompletion(hubPrompts.complete(ref.name, argument))
        if (ref.type === 'ref/resource' && this.#hasTemplate(ref.uri))
          return toCompletion(await this.#deps.hubResources.complete(ref.uri, argument))
        return await this.#forward(context, options => below.complete(params, options))
      } catch (error) {
        throw toProtocolError(error)
      }
    })
  }

  #serveSession(): void {
    const { server } = this
    server.setRequestHandler('logging/setLevel', ({ params }) => {
      this.#logLevel = params.level
      this.#deps.below.setLogLevel(params.level)
      return {}
    })
    server.setNotificationHandler('notifications/roots/list_changed', () => this.#deps.below.rootsChanged())
  }

  #isGiven(name: string): boolean {
    const { toolset } = this.#client.view
    return toolset === undefined || this.#deps.gives(toolset, name)
  }

  #hasTemplate(template: string): boolean {
    return this.#deps.hubResources.templates.some(({ uriTemplate }) => uriTemplate === template)
  }

  /** Forwards a request. The result stays as it is: its shape is between the server and the client. */
  async #forward<Result>(
    context: ServerContext,
    run: (options: ForwardOptions) => Promise<object>,
  ): Promise<Result> {
    const { parked, below, log } = this.#deps
    const caller = toCaller(context, this, log)
    if (caller.declared?.logLevel) below.setLogLevel(caller.declared.logLevel)
    const result = await runFor(parked, caller, run)
    return result as Result
  }

  async #callTool(params: CallToolRequest['params'], context: ServerContext): Promise<CallToolResult> {
    const { hubTools, below, log } = this.#deps
    const { name, arguments: args = {} } = params
    const hubTool = hubTools.find(tool => tool.definition.name === name)
    try {
      if (hubTool) return await this.#runHubTool(hubTool, args, context)
      const result: CallToolResult = await this.#forward(context, options => below.call(name, args, options))
      const isText = this.#readsText(context) && hasWholeText(below.tool(name))
      return isText ? toTextResult(result) : result
    } catch (error) {
      if (!hubTool) {
        const failure = toFailure(error)
        if (failure instanceof ProtocolError) throw failure
        return failure
      }
      const { status, message } = toPublicError(error)
      if (status >= 500) log.error('hub_tool_failed', { tool: name, error })
      return { content: [{ type: 'text', text: message }], isError: true }
    }
  }

  async #runHubTool(tool: HubTool, args: unknown, context: ServerContext): Promise<CallToolResult> {
    const progressToken = context.mcpReq._meta?.progressToken
    let count = 0
    const progress = (message: string) => {
      if (progressToken === undefined) return
      context.mcpReq
        .notify({ method: 'notifications/progress', params: { progress: ++count, message, progressToken } })
        .catch(error => this.#deps.log.debug('progress_not_sent', { error }))
    }
    const { signal } = context.mcpReq
    const { structured, text } = await tool.run(args, { token: this.#client.token, signal, progress })
    return { content: [{ type: 'text', text }], structuredContent: structured }
  }
}

/** Returns all tools, those of the hub first. */
export function listTools({ hubTools, below }: Pick<McpServerDeps, 'hubTools' | 'below'>): Tool[] {
  return [...hubTools.map(tool => tool.definition as Tool), ...below.tools()]
}

/** Values in one completion; the protocol allows a hundred. */
const MOST_COMPLETIONS = 100

function toCompletion(values: readonly string[]) {
  return {
    completion: {
      values: values.slice(0, MOST_COMPLETIONS),
      total: values.length,
      hasMore: values.length > MOST_COMPLETIONS,
    },
  }
}

function toProtocolError(error: unknown): unknown {
  if (error instanceof ProtocolError) return error
  if (error instanceof HubError) {
    const isWrong = error.code === 'not_found' || error.code === 'invalid_arguments'
    const code = isWrong ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError
    return new ProtocolError(code, error.message)
  }
  return new ProtocolError(ProtocolErrorCode.InternalError, describeError(error))
}
