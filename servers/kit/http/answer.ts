import type { ServerResponse } from 'node:http'

const CODES: Record<number, number> = { 400: -32600, 404: -32001, 500: -32603 }

/** Answers with a JSON-RPC error, which MCP clients read, and ends the response. */
export function answerError(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Record<string, string> = {},
): void {
  const error = { code: CODES[status] ?? -32000, message }
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }))
}
