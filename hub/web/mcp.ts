import type { UNCONFIGURED as HUB_UNCONFIGURED } from '../../schemas/health.ts'

/** Key in a failure's `_meta`: nobody set up what the tool asks. */
const UNCONFIGURED: typeof HUB_UNCONFIGURED = 'superbloom/unconfigured'
/** The revision of MCP that this page speaks; it is stateless: every request names client and version. */
const PROTOCOL = '2026-07-28'
const META = {
  'io.modelcontextprotocol/protocolVersion': PROTOCOL,
  'io.modelcontextprotocol/clientInfo': { name: 'superbloom-page', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** An error of a call, with a message for the reader and a kind for the caller. */
export class McpError extends Error {
  readonly kind: 'unauthorized' | 'forbidden' | 'unreachable' | 'protocol' | 'tool' | 'unconfigured'

  constructor(kind: McpError['kind'], message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

/** Returns the words of a failure. */
export function reasonOf(error: unknown) {
  return error instanceof Error ? error.message : String(error)
}

interface McpParts {
  url: string | URL
  token: string
  fetch?: typeof globalThis.fetch
  /** Milliseconds that a whole request may take. */
  timeout?: number
}

/** The hub's tools, through `/mcp`. */
export type Mcp = ReturnType<typeof createMcp>

/** Calls tools of the hub's `/mcp`. Throws nothing but McpError. */
export function createMcp(parts: McpParts) {
  const { url, token, fetch = globalThis.fetch.bind(globalThis), timeout = 30_000 } = parts
  let lastId = 0

  async function request(method: string, params: Record<string, unknown>, timeout: number) {
    lastId += 1
    const id = lastId
    const signal = AbortSignal.timeout(timeout)
    const response = await post(fetch, url, {
      method: 'POST',
      // The page may close before the hub has it.
      keepalive: true,
      signal,
      headers: headersOf(method, params, token),
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: META } }),
    })
    const answer = await readAnswer(response, id)
    if (answer?.result) return answer.result
    throw failureOf(response.status, answer?.error?.message)
  }

  const callTool = (name: string, args: Record<string, unknown>, timeout: number): Promise<ToolResult> =>
    request('tools/call', { name, arguments: args }, timeout)

  return {
    /** Resolves when the token is valid. The timeout is short because somebody waits. */
    discover: () => request('server/discover', {}, 8_000),

    /** Returns a tool's whole result, also where that is an error of the tool. */
    callTool,

    /** Returns the tool's structured result; `within` are the milliseconds that it may take. */
    async call<Result>(name: string, args: Record<string, unknown> = {}, within = timeout): Promise<Result> {
      const result = await callTool(name, args, within)
      const text = textOf(result)
      const kind = result._meta?.[UNCONFIGURED] === true ? 'unconfigured' : 'tool'
      if (result.isError) throw new McpError(kind, text || `${name} failed`)
      return (result.structuredContent ?? parseJson(text) ?? {}) as Result
    },
  }
}

function headersOf(method: string, params: Record<string, unknown>, token: string) {
  return {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': PROTOCOL,
    'Mcp-Method': method,
    ...(typeof params['name'] === 'string' && { 'Mcp-Name': params['name'] }),
  }
}

async function post(fetch: typeof globalThis.fetch, url: string | URL, init: RequestInit) {
  try {
    return await fetch(url, init)
  } catch (error) {
    throw new McpError('unreachable', 'The hub cannot be reached.', error)
  }
}

/** Returns the answer to request `id`, from a JSON body or an event stream. */
async function readAnswer(response: Response, id: number) {
  try {
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
    if (isStream && response.body) return await readStream(response.body, id)
    return parseJson(await response.text())
  } catch (error) {
    throw new McpError('unreachable', 'The answer of the hub broke off.', error)
  }
}

async function readStream(body: ReadableStream<Uint8Array>, id: number) {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let buffer = ''
  for (;;) {
    const { done, value } = await reader.read()
    buffer += done ? '\n\n' : decoder.decode(value, { stream: true })
    const events = buffer.split(/\r?\n\r?\n/)
    buffer = events.pop() ?? ''
    const answer = events.map(messageOf).find(message => message?.id === id)
    if (answer || done) {
      await reader.cancel()
      return answer
    }
  }
}

/** Returns the JSON of one server-sent event; undefined for comments. */
function messageOf(event: string) {
  const data = event
    .split(/\r?\n/)
    .filter(line => line.startsWith('data:'))
    .map(line => line.slice(5).trimStart())
  return parseJson(data.join('\n'))
}

function failureOf(status: number, message: string | undefined) {
  if (status === 401) return new McpError('unauthorized', message ?? 'The hub does not know this token.')
  if (status === 403) return new McpError('forbidden', message ?? 'The hub refuses this address or token.')
  return new McpError('protocol', message ?? `The hub answered with status ${status}.`)
}

export function textOf({ content = [] }: ToolResult) {
  return content
    .filter(block => block.type === 'text')
    .map(block => block.text)
    .join('\n')
}

/** Returns undefined where the text is no JSON. */
function parseJson(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export interface ToolResult {
  content?: { type: string; text?: string }[]
  structuredContent?: unknown
  isError?: boolean
  _meta?: Record<string, unknown>
}
