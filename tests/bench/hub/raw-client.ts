import { type Answer, openLanes, toLines } from './http-connection.ts'

export type Params = Readonly<Record<string, unknown>>

/** An MCP client without a library: it writes raw messages, and parses answers only as far as needed. */
export interface RawClient extends AsyncDisposable {
  /** Resolves with the raw answer. Requests of one lane run one after another. */
  send(method: string, params: Params, lane: number): Promise<Buffer>
}

/** The protocol eras: requests in a session, or requests that each contain everything. */
export const ERAS = ['legacy', '2026-07-28'] as const
export type Era = (typeof ERAS)[number]
const INFO = { name: 'superbloom-bench', version: '1.0.0' }
export const INITIALIZE: Params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: INFO }
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': INFO,
  'io.modelcontextprotocol/clientCapabilities': {},
}
export const INITIALIZED = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })
export const HEADERS = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }

/** Returns the result; throws a server's error, even one in a tool's result. */
export function resultOf(answer: Buffer): Record<string, unknown> {
  const { result, error } = JSON.parse(answer.toString()) as {
    result?: Record<string, unknown>
    error?: { message: string }
  }
  if (!result || result['isError']) throw new Error(`Refused: ${error?.message ?? JSON.stringify(result)}`)
  return result
}

export function toRequest(era: Era, id: number, method: string, params: Params): string {
  const asked = era === 'legacy' ? params : { ...params, _meta: META }
  return JSON.stringify({ jsonrpc: '2.0', id, method, params: asked })
}

export interface HttpTarget {
  url: string
  token?: string
}

/** Opens a client over Streamable HTTP, in which each lane has its own connection. */
export async function openHttpClient(era: Era, { url, token }: HttpTarget): Promise<RawClient> {
  const lanes = await openLanes(new URL(url))
  const common = toLines({ ...HEADERS, ...(token ? { Authorization: `Bearer ${token}` } : {}) })
  const session =
    era === 'legacy' ? await openSession((more, body) => lanes.post(0, common + more, body)) : ''
  let id = 0
  return {
    async send(method, params, lane) {
      const more = era === 'legacy' ? session : toModernHeaders(method, params)
      return toMessage(await lanes.post(lane, common + more, toRequest(era, ++id, method, params)))
    },
    [Symbol.asyncDispose]: async () => lanes.close(),
  }
}

/** Opens a legacy session; resolves with the headers of later requests. */
async function openSession(post: (more: string, body: string) => Promise<Answer>): Promise<string> {
  const opened = await post('', toRequest('legacy', 0, 'initialize', INITIALIZE))
  const version = String(resultOf(toMessage(opened))['protocolVersion'])
  const session = opened.headers.get('mcp-session-id')
  const more = toLines({ 'MCP-Protocol-Version': version, ...(session ? { 'Mcp-Session-Id': session } : {}) })
  await post(more, INITIALIZED)
  return more
}

function toModernHeaders(method: string, { name }: Params): string {
  return toLines({
    'MCP-Protocol-Version': '2026-07-28',
    'Mcp-Method': method,
    ...(typeof name === 'string' ? { 'Mcp-Name': name } : {}),
  })
}

/** Returns an answer's message: the whole body, or the last event of a stream. */
function toMessage({ headers, body }: Answer): Buffer {
  if (!headers.get('content-type')?.startsWith('text/event-stream')) return body
  const start = body.lastIndexOf('\ndata: ') + '\ndata: '.length
  return body.subarray(start, body.indexOf('\n', start))
}
