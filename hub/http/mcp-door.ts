import type { IncomingMessage, ServerResponse } from 'node:http'
import { HubError } from '../core/errors.ts'
import type { McpRequest } from '../core/mcp-request.ts'
import type { Principal } from '../core/principal.ts'
import type { Authorization } from './authorization/authorization.ts'
import { bearerOf, type Doors, LARGEST_BODY } from './doors.ts'

export interface McpDoorDeps {
  doors: Doors
  authorization: Pick<Authorization, 'admit' | 'challenge'>
  /** Tells whether a caller may make one more request now. */
  mayPass: (caller: Principal) => boolean
  /** Calls `end` once a caller's token opens nothing any more, until the returned function is called. */
  hold: (caller: Principal, end: () => void) => () => void
  /** Serves MCP for an admitted caller; the body is parsed. */
  mcp: (request: McpRequest, response: ServerResponse, body: unknown, caller: Principal) => Promise<void>
}

const DOOR = 'MCP at /mcp'
const ENTRY = { door: DOOR, right: 'mcp' } as const

export function isForMcp({ url = '' }: IncomingMessage): boolean {
  return url === '/mcp' || /^\/mcp(?:\/[^/?]+)?\/?(?:\?|$)/.test(url)
}

/**
 * Serves the MCP endpoint without a router, since clients call it thousands of times a second. Throws what it
 * refuses.
 */
export async function serveMcp(
  deps: McpDoorDeps,
  request: McpRequest,
  response: ServerResponse,
): Promise<void> {
  deps.doors.checkNames(request)
  const presented = bearerOf(request)
  const admitted = presented?.includes('.') ? await deps.authorization.admit(presented, request) : undefined
  const caller = deps.doors.admit(request, presented, { ...ENTRY, ...admitted })
  if (!deps.mayPass(caller))
    throw new HubError('rate_limited', `${DOOR}: too many requests at once; slow down.`)
  const end = () => response.destroy()
  response.once('close', admitted ? admitted.hold(end) : deps.hold(caller, end))
  const body = request.method === 'POST' ? await readJson(request) : undefined
  await deps.mcp(request, response, body, caller)
}

async function readJson(request: McpRequest): Promise<unknown> {
  const { 'content-type': type = 'none', 'content-encoding': encoding = 'identity' } = request.headers
  if (!/^application\/json\s*(?:;|$)/i.test(type))
    throw new HubError('bad_request', `The Content-Type is ${type}; send application/json`)
  if (encoding !== 'identity')
    throw new HubError(
      'bad_request',
      `POST /mcp takes no Content-Encoding ${encoding}; send the body as it is`,
    )
  const text = await readText(request)
  if (text === '') throw new HubError('bad_request', 'POST /mcp has no body; send a JSON-RPC message')
  const body = parse(text)
  if (typeof body === 'object' && body !== null) return withoutNullParams(body)
  throw new HubError('bad_request', 'The body of POST /mcp is not JSON of a message: it is no object')
}

/** Drops null params: some clients write null for one that they leave out, such as `arguments`, `cursor`. */
function withoutNullParams(body: object & { params?: unknown }): object {
  const { params } = body
  if (typeof params !== 'object' || params === null || !Object.values(params).includes(null)) return body
  const fields = Object.entries(params).filter(([, value]) => value !== null)
  return { ...body, params: Object.fromEntries(fields) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new HubError('bad_request', `The body of POST /mcp is not JSON: ${why}`, { cause: error })
  }
}

/**
 * Reads a body. Nearly all bodies arrive with their heads and are read at once, since a stream's events take
 * their time.
 */
function readText(request: McpRequest): Promise<string> {
  return new Promise((resolve, reject) => {
    queueMicrotask(() => {
      const length = Number(request.headers['content-length'])
      if (length > LARGEST_BODY || request.readableLength !== length) collectText(request, resolve, reject)
      else {
        resolve((request.read() as Buffer | null)?.toString('utf8') ?? '')
        request.resume()
      }
    })
  })
}

function collectText(
  request: McpRequest,
  resolve: (text: string) => void,
  reject: (error: unknown) => void,
): void {
  const parts: Buffer[] = []
  let size = 0
  request.on('data', (part: Buffer) => {
    size += part.length
    if (size <= LARGEST_BODY) parts.push(part)
    else reject(new HubError('too_large', `The body of POST /mcp is over ${LARGEST_BODY} bytes`))
  })
  request.on('end', () => resolve(Buffer.concat(parts).toString('utf8')))
  request.on('error', reject)
  const onClose = () => {
    if (!request.complete) reject(new HubError('bad_request', 'The body of POST /mcp ended too soon'))
  }
  if (request.destroyed) onClose()
  else request.on('close', onClose)
}
