/** The revision of MCP that this page speaks; it is stateless: every request names client and version. */
const PROTOCOL = '2026-07-28'
const META = {
  'io.modelcontextprotocol/protocolVersion': PROTOCOL,
  'io.modelcontextprotocol/clientInfo': { name: 'superbloom-page', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** An error of a call, with a message for the reader and a kind for the caller. */
export class McpError extends Error {
  /** @param {'unauthorized' | 'forbidden' | 'unreachable' | 'protocol' | 'tool'} kind @param {string} message @param {unknown} [cause] */
  constructor(kind, message, cause) {
    super(message, { cause })
    this.kind = kind
  }
}

/**
 * Calls tools of the hub's `/mcp`. Throws nothing but McpError.
 * @param {object} parts
 * @param {string | URL} parts.url
 * @param {string} parts.token
 * @param {typeof globalThis.fetch} [parts.fetch]
 * @param {number} [parts.timeout] milliseconds a whole request may take
 */
export function createMcp({ url, token, fetch = globalThis.fetch.bind(globalThis), timeout = 30_000 }) {
  let lastId = 0

  /** @param {string} method @param {Record<string, unknown>} params @param {number} within milliseconds */
  async function request(method, params, within) {
    lastId += 1
    const id = lastId
    const signal = AbortSignal.timeout(within)
    const response = await post(fetch, url, {
      method: 'POST',
      signal,
      headers: headersOf(method, params, token),
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: META } }),
    })
    const answer = await readAnswer(response, id)
    if (answer?.result) return answer.result
    throw failureOf(response.status, answer?.error?.message)
  }

  return {
    /** Resolves when the token is valid. The timeout is short because somebody waits. */
    discover: () => request('server/discover', {}, 8_000),

    /**
     * @template Result
     * @param {string} name @param {Record<string, unknown>} [args]
     * @returns {Promise<Result>} the tool's structured result
     */
    async call(name, args = {}) {
      /** @type {ToolResult} */
      const result = await request('tools/call', { name, arguments: args }, timeout)
      const text = textOf(result)
      if (result.isError) throw new McpError('tool', text || `${name} failed`)
      return /** @type {Result} */ (result.structuredContent ?? parseJson(text) ?? {})
    },
  }
}

/** @param {string} method @param {Record<string, unknown>} params @param {string} token */
function headersOf(method, params, token) {
  return {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': PROTOCOL,
    'Mcp-Method': method,
    ...(typeof params.name === 'string' && { 'Mcp-Name': params.name }),
  }
}

/** @param {typeof globalThis.fetch} fetch @param {string | URL} url @param {RequestInit} init */
async function post(fetch, url, init) {
  try {
    return await fetch(url, init)
  } catch (error) {
    throw new McpError('unreachable', 'The hub cannot be reached.', error)
  }
}

/**
 * Returns the answer to request `id`, from a JSON body or an event stream.
 * @param {Response} response @param {number} id
 */
async function readAnswer(response, id) {
  try {
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
    if (isStream && response.body) return await readStream(response.body, id)
    return parseJson(await response.text())
  } catch (error) {
    throw new McpError('unreachable', 'The answer of the hub broke off.', error)
  }
}

/** @param {ReadableStream<Uint8Array>} body @param {number} id */
async function readStream(body, id) {
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

/** Returns the JSON of one server-sent event; undefined for comments. @param {string} event */
function messageOf(event) {
  const data = event
    .split(/\r?\n/)
    .filter(line => line.startsWith('data:'))
    .map(line => line.slice(5).trimStart())
  return parseJson(data.join('\n'))
}

/** @param {number} status @param {string | undefined} message */
function failureOf(status, message) {
  if (status === 401) return new McpError('unauthorized', message ?? 'The hub does not know this token.')
  if (status === 403) return new McpError('forbidden', message ?? 'The hub refuses this address or token.')
  return new McpError('protocol', message ?? `The hub answered with status ${status}.`)
}

/** @param {ToolResult} result */
function textOf({ content = [] }) {
  return content
    .filter(block => block.type === 'text')
    .map(block => block.text)
    .join('\n')
}

/** @param {string} text undefined where it is no JSON */
function parseJson(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** @typedef {{content?: {type: string, text?: string}[], structuredContent?: unknown, isError?: boolean}} ToolResult */
