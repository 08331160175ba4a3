import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  ResourceNotFoundError,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { readsText, toTextTool } from '../../schemas/text-readers.ts'
import { type Clock, MAX_DELAY } from '../core/clock.ts'
import { describeError, HubError } from '../core/errors.ts'
import type { ForwardOptions, JsonObject } from '../core/forwarding.ts'
import { may, type Principal } from '../core/principal.ts'
import { ELICITATION, QUESTION_MS } from '../core/server-question.ts'
import { type CallToolDeps, callTool, mayCall } from './call-tool.ts'
import {
  type Caller,
  describedBy,
  doesResume,
  ElicitedPages,
  forward,
  outcomeOf,
  PAGE_DONE,
  type SelfDescription,
  toModernKey,
  toObject,
  toRepeat,
} from './caller.ts'
import type { HubPrompts } from './hub-resources/hub-prompts.ts'
import { conversationOf, type HubResources, ownsResource } from './hub-resources/hub-resources.ts'
import { hubTools } from './hub-tools/index.ts'
import { toInstructions } from './instructions.ts'
import { leanDefinitions } from './lean.ts'
import type { McpView } from './requests.ts'
import { isLogged, LOG_MESSAGE, type LogLevel } from './upstream-servers.ts'

/** Milliseconds that a client may take for anything but a question to a person: models may write for long. */
const LONGEST_ANSWER_MS = 24 * 3_600_000

const anyResult = z.looseObject({})

export interface McpServerDeps extends CallToolDeps {
  clock: Clock
  serverInfo: { name: string; title: string; version: string }
  hubResources: HubResources
  hubPrompts: HubPrompts
}

export interface McpClient {
  principal: Principal
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
  readonly pages = new ElicitedPages()
  readonly #deps: McpServerDeps
  readonly #client: McpClient
  #logLevel: LogLevel | undefined

  constructor(deps: McpServerDeps, client: McpClient) {
    this.#deps = deps
    this.#client = client
    this.key = client.key
    this.server = new Server(deps.serverInfo, {
      capabilities: {
        // Lean mode's two tools never change, so its clients get no change notifications.
        tools: client.view.lean ? {} : { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
      },
      instructions: toInstructions(deps.servers.catalogue.instructions),
    })
    this.#serveTools()
    this.#serveResources()
    this.#servePrompts()
    this.#serveSession()
  }

  /** What a legacy client said of itself, known since it initialized. */
  get client(): SelfDescription {
    return {
      name: this.server.getClientVersion()?.name ?? '',
      capabilities: toObject(this.server.getClientCapabilities()),
      logLevel: this.#logLevel,
    }
  }

  /**
   * Sends what belongs to no request: log messages only to a client that wants them, and only the end of its
   * own pages.
   */
  notify(method: string, params: JsonObject = {}): void {
    if (method === LOG_MESSAGE && !isLogged(params['level'], this.#logLevel)) return
    if (method === PAGE_DONE && !this.pages.end(params['elicitationId'])) return
    this.server
      .notification({ method, params })
      .catch(error => this.#deps.log.debug('notice_not_sent', { method, error }))
  }

  /** Sends a legacy client a request for a server, on the stream of its own request. */
  async ask(
    relatedRequestId: RequestId,
    { method, params, signal }: { method: string; params: JsonObject; signal: AbortSignal },
  ): Promise<JsonObject> {
    const limit = method === ELICITATION ? QUESTION_MS : LONGEST_ANSWER_MS
    const why = `Nobody answered within ${limit / 60_000} minutes`
    const late = new AbortController()
    const cancelLimit = this.#deps.clock.after(limit, () => late.abort(why))
    try {
      return await this.server.request({ method, params }, anyResult, {
        relatedRequestId,
        signal: AbortSignal.any([signal, late.signal]),
        timeout: MAX_DELAY,
      })
    } catch (error) {
      throw late.signal.aborted ? new HubError('timeout', why, { cause: error }) : error
    } finally {
      cancelLimit()
    }
  }

  #serveTools(): void {
    const { server } = this
    const { lean, toolset } = this.#client.view
    server.setRequestHandler('tools/list', (_request, context) => {
      if (lean) return { tools: [...leanDefinitions] }
      const given = listTools(this.#deps, this.#client.principal).filter(
        ({ name }) => toolset === undefined || this.#deps.gives(toolset, name),
      )
      return { tools: readsText(this.#toCaller(context).client.name) ? given.map(toTextTool) : given }
    })
    // Only calls that are not plainly right, and those of a batch, arrive here.
    server.setRequestHandler(
      'tools/call',
      ({ params }, context) =>
        callTool(this.#deps, this.#toCaller(context), params) as Promise<CallToolResult>,
    )
  }

  #serveResources(): void {
    const { server } = this
    const { servers, hubResources } = this.#deps
    const { principal } = this.#client
    server.setRequestHandler('resources/list', async () => {
      const all = [...(await hubResources.list()), ...servers.catalogue.resources]
      return { resources: all.filter(({ uri }) => this.#mayRead(uri)) }
    })
    server.setRequestHandler('resources/templates/list', () => {
      const all = [...hubResources.templates, ...servers.catalogue.resourceTemplates]
      return { resourceTemplates: all.filter(({ uriTemplate }) => this.#mayRead(uriTemplate)) }
    })
    server.setRequestHandler('resources/read', ({ params: { uri } }, context) => {
      const refusal = this.#mayRead(uri)
        ? undefined
        : new ResourceNotFoundError(uri, `${uri} is not for ${principal.name}`)
      return this.#forward(context, { method: 'resources/read', args: { uri }, refusal }, options => {
        const read = ownsResource(uri) ? hubResources.read(uri) : servers.readResource(uri, options)
        return read.catch(error => {
          const isMissing = error instanceof HubError && error.code === 'not_found'
          throw isMissing ? new ResourceNotFoundError(uri, error.message) : error
        })
      })
    })
    server.setRequestHandler('resources/subscribe', ({ params }) => {
      if (!this.#mayRead(params.uri)) throw new ResourceNotFoundError(params.uri)
      this.#client.onSubscribe?.(params.uri, true)
      return {}
    })
    server.setRequestHandler('resources/unsubscribe', ({ params }) => {
      this.#client.onSubscribe?.(params.uri, false)
      return {}
    })
  }

  /** Tells whether the client may read what a URI, or a template of URIs, names. */
  #mayRead(uri: string): boolean {
    return mayReadResource(this.#deps, this.#client.principal, uri)
  }

  #servePrompts(): void {
    const { server } = this
    const { servers, hubPrompts, hubResources } = this.#deps
    const isOwn = (name: string) => hubPrompts.list().some(prompt => prompt.name === name)
    const { principal } = this.#client
    // An agent's prompt tells of the agent, and a server's acts as the server's tools do.
    const isGiven = (name: string) => !principal.tools && may(principal, isOwn(name) ? 'records' : 'act')
    const isTemplate = (uri: string) => hubResources.templates.some(({ uriTemplate }) => uriTemplate === uri)
    server.setRequestHandler('prompts/list', () => {
      const others = servers.catalogue.prompts.map(({ definition }) => definition)
      const all = [...hubPrompts.list(), ...others.filter(({ name }) => !isOwn(name))]
      return { prompts: all.filter(({ name }) => isGiven(name)) }
    })
    server.setRequestHandler('prompts/get', ({ params: { name, arguments: args = {} } }, context) => {
      const refusal = isGiven(name)
        ? undefined
        : new HubError('not_found', `There is no prompt ${name} for ${principal.name}`)
      const asked = { method: 'prompts/get', args: { name, arguments: args }, refusal }
      return this.#forward(context, asked, async options =>
        isOwn(name) ? hubPrompts.get(name, args) : servers.getPrompt(name, args, options),
      )
    })
    server.setRequestHandler('completion/complete', ({ params }, context) => {
      const { ref, argument } = params
      const asked = { method: 'completion/complete', args: { ref, argument } }
      return this.#forward(context, asked, async options => {
        if (ref.type === 'ref/prompt' && !isGiven(ref.name)) return toCompletion([])
        if (ref.type === 'ref/prompt' && isOwn(ref.name))
          return toCompletion(hubPrompts.complete(ref.name, argument))
        if (ref.type === 'ref/resource' && !this.#mayRead(ref.uri)) return toCompletion([])
        if (ref.type === 'ref/resource' && isTemplate(ref.uri))
          return toCompletion(await hubResources.complete(ref.uri, argument))
        return servers.complete(params, options)
      })
    })
  }

  #serveSession(): void {
    const { server } = this
    server.setRequestHandler('logging/setLevel', ({ params }) => {
      this.#logLevel = params.level
      this.#deps.setLogLevel(params.level)
      return {}
    })
    server.setNotificationHandler('notifications/roots/list_changed', () => this.#deps.servers.rootsChanged())
  }

  /**
   * Forwards a request, and records it like a call that looks. The result stays as it is: its shape is between
   * the server and the client.
   */
  async #forward<Result>(
    context: ServerContext,
    { method, args, refusal }: { method: string; args: JsonObject; refusal?: Error | undefined },
    run: (options: ForwardOptions) => Promise<object>,
  ): Promise<Result> {
    const { audit } = this.#deps
    const caller = this.#toCaller(context)
    const resumes = doesResume(this.#deps, caller)
    const begun = { by: caller.principal, tool: method, args, toolClass: 'look', resumes } as const
    if (refusal) {
      audit.refuse(begun)
      throw toProtocolError(refusal)
    }
    const noteEnd = await audit.begin(begun)
    let outcome = 'error'
    try {
      const result = await forward(this.#deps, caller, method, run)
      outcome = outcomeOf(result)
      return result as Result
    } catch (error) {
      throw toProtocolError(error)
    } finally {
      noteEnd(caller.signal.aborted ? 'cut' : outcome)
    }
  }

  #toCaller({ mcpReq }: ServerContext): Caller {
    const { principal, view } = this.#client
    const { id, envelope, inputResponses } = mcpReq
    const modern = envelope && describedBy({ ...envelope })
    return {
      key: modern ? toModernKey(principal, modern) : this.key,
      principal,
      view,
      client: modern ?? this.client,
      session: modern ? undefined : this.toLegacyCaller(id),
      signal: mcpReq.signal,
      meta: { ...mcpReq._meta },
      repeat: toRepeat(inputResponses, mcpReq.requestState()),
      notify: (method, params) => {
        mcpReq
          .notify({ method, params })
          .catch(error => this.#deps.log.debug('notice_not_sent', { method, error }))
      },
    }
  }

  /** Returns the session's part of the Caller of one request. */
  toLegacyCaller(id: RequestId): NonNullable<Caller['session']> {
    return {
      pages: this.pages,
      ask: (method, params, signal) => this.ask(id, { method, params, signal }),
    }
  }
}

/** Returns the tools that a principal may call, or without one all tools; those of the hub come first. */
export function listTools(
  deps: Pick<CallToolDeps, 'servers' | 'toolClassOf'>,
  principal?: Principal,
): Tool[] {
  const all = [
    ...hubTools.map(tool => tool.definition as Tool),
    ...deps.servers.catalogue.tools.map(({ definition }) => definition),
  ]
  return principal ? all.filter(({ name }) => mayCall(deps, principal, name)) : all
}

/**
 * Tells whether a principal may read a resource: of the hub only with the right to its records, and of servers with
 * the right to act there, both with a token that is not narrowed to tools.
 */
export function mayReadResource(
  { hub }: Pick<McpServerDeps, 'hub'>,
  principal: Principal,
  uri: string,
): boolean {
  if (principal.tools) return false
  if (!ownsResource(uri)) return may(principal, 'act')
  const conversation = conversationOf(uri)
  return may(principal, 'records') && (conversation === undefined || hub.mayUse(principal, conversation))
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
  if (!(error instanceof HubError))
    return new ProtocolError(ProtocolErrorCode.InternalError, describeError(error))
  const isWrong = error.code === 'not_found' || error.code === 'invalid_arguments'
  const code = isWrong ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError
  return new ProtocolError(code, error.message)
}
