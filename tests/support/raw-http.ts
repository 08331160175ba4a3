import { type IncomingHttpHeaders, request } from 'node:http'

export interface RawResponse {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** Undefined if the body is not JSON. */
  json: unknown
}

export interface RawRequest {
  method?: string
  headers?: Record<string, string>
  body?: string | Buffer
}

/**
 * Sends one HTTP request with exactly these headers, including `Host`, which `fetch` does not let a test set.
 */
export function send(
  url: string,
  { method = 'GET', headers = {}, body }: RawRequest = {},
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', chunk => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parse(text) })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Parses a body's JSON, plain or in a stream's last event. */
function parse(text: string): unknown {
  const data = [...text.matchAll(/^data: (.+)$/gm)].at(-1)?.[1] ?? text
  try {
    return JSON.parse(data)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Returns the headers of an MCP client's POST. */
export function mcpHeaders(token: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...more,
  }
}

/** A legacy client's first message. */
export const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
})

/** Returns any request as JSON text. */
export function rpc(method: string, params: object = {}, id: number | string = 2): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}
