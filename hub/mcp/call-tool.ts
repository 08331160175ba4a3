import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/server'
import type { ToolClass } from '../../schemas/power.ts'
import { hasWholeText, readsText, toTextResult } from '../../schemas/text-readers.ts'
import { type TraceContext, traceContext } from '../../schemas/trace.ts'
import { describeError, HubError, toPublicError } from '../core/errors.ts'
import { isObject, type JsonObject } from '../core/forwarding.ts'
import { matchesGlobs } from '../core/glob.ts'
import { CALL_TOOL, FIND_TOOLS, type FoundTool, unwrapCall } from '../core/lean-tools.ts'
import type { Log } from '../core/log.ts'
import { may, type Principal } from '../core/principal.ts'
import type { Telemetry } from '../core/telemetry.ts'
import { plural } from '../core/text.ts'
import type { CallAudit } from './call-audit.ts'
import {
  type Caller,
  doesResume,
  type ForwardDeps,
  forward,
  outcomeOf,
  toObject,
  toRepeat,
} from './caller.ts'
import type { HubToolDeps } from './hub-tools/deps.ts'
import type { HubTool } from './hub-tools/hub-tool.ts'
import { hubToolOf } from './hub-tools/index.ts'
import { fail, findTools } from './lean.ts'
import type { Reply } from './reply.ts'
import type { RawRequest } from './requests.ts'
import type { UpstreamServers } from './upstream-servers.ts'

export interface CallToolDeps extends ForwardDeps {
  log: Log
  telemetry: Telemetry
  audit: CallAudit
  hub: HubToolDeps
  servers: UpstreamServers
  /** Returns the class of a tool; undefined for an unknown one. */
  toolClassOf: (name: string) => ToolClass | undefined
  /** Tells whether a toolset contains a tool. */
  gives: (toolset: string, name: string) => boolean
  /** Returns the tools that fit some words, the best first. */
  findTools: (query: string, limit: number, isGiven: (name: string) => boolean) => FoundTool[]
}

/**
 * Calls a tool of the hub, or forwards the call to its server as it came, and the result as it came back. A
 * tool's failure is a result; throws a ProtocolError for what the protocol answers as an error.
 */
export async function callTool(
  deps: CallToolDeps,
  caller: Caller,
  params: { name: string; arguments?: JsonObject | undefined },
): Promise<object> {
  const { lean } = caller.view
  const meant = lean && params.name === CALL_TOOL ? unwrapCall(params.arguments) : params
  if (!meant) return fail(`call_tool takes name, and arguments as ${FIND_TOOLS} shows them.`)
  const { name, arguments: args = {} } = meant
  const span = deps.telemetry.begin(
    'tool',
    { caller: 'client', tool: name, arguments: withoutPaste(name, args) },
    'traceparent' in caller.meta ? traceContext.safeParse(caller.meta).data : undefined,
  )
  let outcome = 'error'
  let noteEnd: Awaited<ReturnType<CallAudit['begin']>> | undefined
  try {
    const resumes = doesResume(deps, caller)
    const call = { by: caller.principal, resumes, ...describeCall(deps, name, args) }
    if (!(lean && name === FIND_TOOLS) && !isGiven(deps, caller, name)) {
      deps.audit.refuse(call)
      return refuse(deps, caller, name)
    }
    noteEnd = await deps.audit.begin(call)
    const meta = { ...caller.meta, ...span.trace }
    const result = await runTool(deps, { ...caller, meta }, { name, args, trace: span.trace })
    outcome = outcomeOf(result)
    return result
  } catch (error) {
    return toFailure(error)
  } finally {
    const end = caller.signal.aborted ? 'cut' : outcome
    span.end(end, {})
    noteEnd?.(end)
  }
}

/** Returns a call as the audit keeps it: what somebody says to an agent is in the conversation alone. */
function describeCall({ toolClassOf }: CallToolDeps, tool: string, args: JsonObject) {
  const own = hubToolOf(tool)
  const says = own && typeof args['message'] === 'string'
  const shown = withoutPaste(tool, args)
  return {
    tool,
    args: says ? { ...shown, message: `(${plural(String(args['message']).length, 'character')})` } : shown,
    toolClass: toolClassOf(tool),
  } as const
}

/** Returns the arguments without the text of a server's entry, which holds secrets. */
function withoutPaste(tool: string, args: JsonObject): JsonObject {
  return hubToolOf(tool) && 'paste' in args ? { ...args, paste: '***' } : args
}

/** Tells whether a caller may use a tool, by the toolset of its address and by its token. */
function isGiven(deps: CallToolDeps, { principal, view: { toolset } }: Caller, name: string): boolean {
  return (toolset === undefined || deps.gives(toolset, name)) && mayCall(deps, principal, name)
}

function refuse(deps: CallToolDeps, { principal, view: { toolset } }: Caller, name: string): CallToolResult {
  if (toolset !== undefined && !deps.gives(toolset, name))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${name}`)
  return fail(toRefusal(principal, name))
}

async function runTool(
  deps: CallToolDeps,
  caller: Caller,
  { name, args, trace }: { name: string; args: JsonObject; trace: TraceContext | undefined },
): Promise<object> {
  if (caller.view.lean && name === FIND_TOOLS)
    return findTools(args, (query, limit) =>
      deps.findTools(query, limit, given => isGiven(deps, caller, given)),
    )
  const hubTool = hubToolOf(name)
  if (hubTool) return runHubTool(deps, caller, hubTool, { args, trace })
  const { servers } = deps
  const result = await forward(deps, caller, `tools/call ${name}`, options =>
    servers.call(name, args, options),
  )
  const isText = readsText(caller.client.name) && hasWholeText(servers.catalogue.tool(name)?.definition)
  return isText ? toTextResult(result) : result
}

/** Tells whether a principal may call a tool: by its role, and by the globs of its token. */
export function mayCall(
  { toolClassOf }: Pick<CallToolDeps, 'toolClassOf'>,
  principal: Principal,
  name: string,
): boolean {
  if (principal.tools && !matchesGlobs(principal.tools, name)) return false
  const right = hubToolOf(name)?.right
  if (right) return may(principal, right)
  return may(principal, 'act') || (may(principal, 'look') && toolClassOf(name) === 'look')
}

function toRefusal({ name: who, role, tools }: Principal, name: string): string {
  const why = tools ? `may use only ${tools.join(', ')}` : `has the role ${role}`
  return `${name} is not for ${who}, whose token ${why}. The owner can make another one with "superbloom tokens create".`
}

async function runHubTool(
  { log, hub }: CallToolDeps,
  { principal, signal, meta: { progressToken }, notify }: Caller,
  tool: HubTool,
  { args, trace }: { args: JsonObject; trace: TraceContext | undefined },
): Promise<CallToolResult> {
  let count = 0
  const progress = (message: string) => {
    if (progressToken === undefined) return
    notify('notifications/progress', { progress: ++count, message, progressToken })
  }
  try {
    const { structured, text } = await tool.run(args, { deps: hub, principal, signal, trace, progress })
    return { content: [{ type: 'text', text }], structuredContent: structured }
  } catch (error) {
    const { status, message } = toPublicError(error)
    if (status >= 500) log.error('hub_tool_failed', { tool: tool.definition.name, error })
    return fail(message)
  }
}

/** Returns what went wrong with a call as a result that a model reads; throws the protocol's errors. */
function toFailure(error: unknown): CallToolResult {
  if (error instanceof ProtocolError) throw error
  if (error instanceof HubError && error.code === 'not_found')
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message)
  return fail(describeError(error))
}

/** Answers a raw call of a client. */
export async function answerCall(
  deps: CallToolDeps & { serverInfo: object },
  who: Omit<Caller, 'meta' | 'repeat' | 'notify'>,
  { id, params, meta }: RawRequest,
  reply: Reply,
): Promise<void> {
  const caller: Caller = {
    ...who,
    meta,
    repeat: toRepeat(params['inputResponses'], params['requestState']),
    notify: (method, told) => reply.send({ jsonrpc: '2.0', method, params: told }),
  }
  const encode = (result: object) =>
    caller.session ? withoutResultType(result) : toModernResult(result, deps.serverInfo)
  try {
    const called = callTool(deps, caller, {
      name: String(params['name']),
      arguments: toObject(params['arguments']),
    })
    reply.start()
    const result = await called
    // A cancelled request gets no answer.
    reply.end(caller.signal.aborted ? undefined : { jsonrpc: '2.0', id, result: encode(result) })
  } catch (error) {
    if (caller.signal.aborted) return reply.end(undefined)
    // A result that cannot be written fails here.
    if (!(error instanceof ProtocolError))
      return reply.end({ jsonrpc: '2.0', id, result: encode(toFailure(error)) })
    const { code, message, data } = error
    const isLacking = !caller.session && code === ProtocolErrorCode.MissingRequiredClientCapability
    reply.end(
      { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } },
      isLacking ? 400 : 200,
    )
  }
}

export function toModernResult(result: object, serverInfo: object): object {
  const meta = '_meta' in result && isObject(result._meta) ? result._meta : {}
  return { resultType: 'complete', ...result, _meta: { [SERVER_INFO_META_KEY]: serverInfo, ...meta } }
}

function withoutResultType(result: object): object {
  if (!('resultType' in result)) return result
  const { resultType: _, ...rest } = result
  return rest
}
