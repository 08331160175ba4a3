import type { IncomingMessage } from 'node:http'
import {
  CLIENT_CAPABILITIES_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server'
import { isObject, type JsonObject } from '../core/forwarding.ts'
import { type Declared, declaredBy, toRepeat } from './callers.ts'

const MODERN = '2026-07-28'
/** First version whose clients take events without a message. */
const PRIMED = '2025-11-25'

/** A plain call of a server's tool, which can take the fast path. */
export interface LaneCall {
  id: string | number
  name: string
  args: JsonObject
  meta: JsonObject
  repeat: JsonObject
  /** Whether its client takes an event that only says from where to resume. */
  primes: boolean
}

/** A call of a client of 2026-07-28, with the client's self-description. */
export interface ModernCall extends LaneCall {
  declared: Declared
}

/** Reads a request from before 2026-07-28; undefined if it is not plainly a call of a tool. */
export function readLegacyCall(request: IncomingMessage, body: unknown): LaneCall | undefined {
  const call = isOfLegacy(request) ? readCall(body) : undefined
  return call && { ...call, primes: String(request.headers['mcp-protocol-version'] ?? '') >= PRIMED }
}

/** Reads a request of 2026-07-28; undefined if it is not plainly a tool call with all that it has to say. */
export function readModernCall(request: IncomingMessage, body: unknown): ModernCall | undefined {
  if (request.headers['mcp-method'] !== 'tools/call') return undefined
  const call = readCall(body)
  if (!call || request.headers['mcp-name'] !== call.name) return undefined
  return isOfModern(request, { _meta: call.meta }, 'tools/call')
    ? { ...call, declared: declaredBy(call.meta) }
    : undefined
}

/** Tells whether the headers are those of a request from before 2026-07-28. */
export function isOfLegacy(request: IncomingMessage): boolean {
  const version = request.headers['mcp-protocol-version']
  const isKnown = version === undefined || SUPPORTED_PROTOCOL_VERSIONS.some(known => known === version)
  return isKnown && takesBoth(request)
}

/** Tells whether headers and `_meta` are those of a request of 2026-07-28, and agree. */
export function isOfModern(request: IncomingMessage, params: unknown, method: string): boolean {
  const { headers } = request
  const meta = isObject(params) ? params['_meta'] : undefined
  return (
    headers['mcp-protocol-version'] === MODERN &&
    headers['mcp-method'] === method &&
    isObject(meta) &&
    meta[PROTOCOL_VERSION_META_KEY] === MODERN &&
    isObject(meta[CLIENT_CAPABILITIES_META_KEY]) &&
    takesBoth(request)
  )
}

function takesBoth({ headers: { accept = '' } }: IncomingMessage): boolean {
  return accept.includes('application/json') && accept.includes('text/event-stream')
}

function readCall(body: unknown): LaneCall | undefined {
  if (!isObject(body) || body['method'] !== 'tools/call' || body['jsonrpc'] !== '2.0') return undefined
  const { id, params } = body
  if ((typeof id !== 'string' && typeof id !== 'number') || !isObject(params)) return undefined
  const { name, arguments: args = {}, _meta: meta = {}, inputResponses, requestState, ...rest } = params
  if (typeof name !== 'string' || !isObject(args) || !isObject(meta) || Object.keys(rest).length > 0)
    return undefined
  if (inputResponses !== undefined && !isObject(inputResponses)) return undefined
  const repeat = toRepeat(inputResponses, requestState)
  return { id, name, args, meta, repeat, primes: false }
}
