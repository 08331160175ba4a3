import type { IncomingMessage } from 'node:http'
import {
  CLIENT_CAPABILITIES_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server'
import { isObject, type JsonObject } from '../core/forwarding.ts'
import type { Principal } from '../core/principal.ts'

const MODERN = '2026-07-28'
/** First version whose clients take events without a message. */
const PRIMED = '2025-11-25'

/** The tools that a connection sees: all, those of a toolset, or only those that find and call them. */
export interface McpView {
  /** Whether `find_tools` and `call_tool` replace the catalogue. */
  lean: boolean
  /** Name of the toolset; undefined for all tools. */
  toolset: string | undefined
}

const WHOLE: McpView = { lean: false, toolset: undefined }

/** Returns the view that an address asks for: `/mcp`, `/mcp/<toolset>`, with `?tools=lean` or without. */
export function toView(url: string): McpView {
  if (url === '/mcp') return WHOLE
  const { pathname, searchParams } = new URL(url, 'http://hub')
  const [, , toolset] = pathname.split('/')
  return {
    lean: searchParams.get('tools') === 'lean',
    toolset: toolset || undefined,
  }
}

/** A request that the hub answers without the SDK's server. */
export interface RawRequest {
  id: string | number
  method: 'tools/call' | 'tools/list'
  params: JsonObject
  /** The `_meta` of `params`. */
  meta: JsonObject
  /** Whether its client takes an event that only says from where to resume. */
  primes: boolean
}

/** What is known of a request that was admitted. */
export interface Admitted {
  body: unknown
  /** Set if the hub can answer it without the SDK's server. */
  raw: RawRequest | undefined
  principal: Principal
  view: McpView
}

/**
 * Reads a request of this era; undefined unless it is plainly right and one that the hub answers without the
 * SDK's server. The SDK says what is wrong with a wrong one.
 */
export function readRaw(
  { headers }: IncomingMessage,
  body: unknown,
  era: 'legacy' | 'modern',
): RawRequest | undefined {
  if (!isObject(body) || body['jsonrpc'] !== '2.0') return undefined
  const { id, method, params = {} } = body
  if (method !== 'tools/call' && method !== 'tools/list') return undefined
  if ((typeof id !== 'string' && typeof id !== 'number') || !isObject(params)) return undefined
  const { accept = '', 'mcp-protocol-version': version = '' } = headers
  if (!accept.includes('application/json') || !accept.includes('text/event-stream')) return undefined
  const { _meta: meta = {}, name } = params
  const isRight = method === 'tools/call' ? isCall(params) : params['cursor'] === undefined
  if (!isRight || !isObject(meta)) return undefined
  if (era === 'modern') {
    const isNamed = method === 'tools/list' || headers['mcp-name'] === name
    const isDeclared =
      meta[PROTOCOL_VERSION_META_KEY] === MODERN && isObject(meta[CLIENT_CAPABILITIES_META_KEY])
    if (headers['mcp-method'] !== method || !isNamed || !isDeclared) return undefined
  }
  return { id, method, params, meta, primes: version >= PRIMED }
}

function isCall({ name, arguments: args = {}, inputResponses = {}, requestState = '' }: JsonObject): boolean {
  return (
    typeof name === 'string' && isObject(args) && isObject(inputResponses) && typeof requestState === 'string'
  )
}

/** Returns the era that the headers plainly show; undefined if the SDK has to find it out. */
export function eraOf({ headers }: IncomingMessage): 'legacy' | 'modern' | undefined {
  const version = headers['mcp-protocol-version']
  if (version === MODERN) return 'modern'
  const isKnown = version === undefined || SUPPORTED_PROTOCOL_VERSIONS.some(known => known === version)
  const isOfSession = headers['mcp-session-id'] !== undefined && headers['mcp-method'] === undefined
  return isKnown && isOfSession ? 'legacy' : undefined
}
