import type { Agent, AgentOptions, IncomingMessage } from 'node:http'
import { VERSION } from '../version.ts'

/** `timeout`: milliseconds that an idle connection is kept, or less if the upstream says so. */
const KEPT = { keepAlive: true, timeout: 4000 }

export interface HttpRequest {
  method: string
  /** A URL with http: or https:. */
  url: URL
  headers: Readonly<Record<string, string>>
  body?: string | Uint8Array | undefined
  signal: AbortSignal
  /** Largest size of the answer's body. */
  maxBytes: number
}

/** A subset of the platform's `Headers`, which would load all of fetch. */
export type AnswerHeaders = Pick<Headers, 'get' | 'getSetCookie'>

export interface HttpAnswer {
  status: number
  headers: AnswerHeaders
  /** Undefined if the body is larger than `maxBytes`; the rest is not read. */
  bytes: Uint8Array | undefined
}

/**
 * Sends one request and reads its whole answer. Follows no redirects. Rejects as the socket does, or once the
 * signal aborts.
 */
export type Exchange = (request: HttpRequest) => Promise<HttpAnswer>

/**
 * Uses Node's own client, loaded at the first request: fetch would take 13 MB more of an idle server's
 * memory, and an `import` of node:http loads fetch too, for its WebSocket. Connections are kept alive and
 * shared.
 */
export const exchange: Exchange = async ({ method, url, headers, body, signal, maxBytes }) => {
  const { request, agent } = url.protocol === 'https:' ? openSecure() : openPlain()
  const length = body === undefined ? undefined : { 'content-length': String(Buffer.byteLength(body)) }
  const sent = { 'user-agent': `superbloom/${VERSION}`, 'accept-encoding': 'identity', ...headers, ...length }
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { method, headers: sent, agent, signal }, resolve).on('error', reject).end(body)
  })
  const bytes = await readBytes(answer, maxBytes)
  return { status: answer.statusCode ?? 0, headers: toHeaders(answer), bytes }
}

interface Client {
  request: typeof import('node:http')['request']
  agent: Agent
}

type Builtin = Pick<typeof import('node:http'), 'request'> & { Agent: new (options: AgentOptions) => Agent }

let plain: Client | undefined
let secure: Client | undefined

function openPlain(): Client {
  plain ??= toClient(process.getBuiltinModule('node:http'))
  return plain
}

function openSecure(): Client {
  secure ??= toClient(process.getBuiltinModule('node:https'))
  return secure
}

function toClient({ request, Agent }: Builtin): Client {
  return { request, agent: new Agent(KEPT) }
}

async function readBytes(answer: IncomingMessage, max: number): Promise<Uint8Array | undefined> {
  if (Number(answer.headers['content-length']) > max) {
    answer.destroy()
    return undefined
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of answer as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > max) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function toHeaders({ headersDistinct }: IncomingMessage): AnswerHeaders {
  const all = (name: string) => headersDistinct[name.toLowerCase()]
  return { get: name => all(name)?.join(', ') ?? null, getSetCookie: () => all('set-cookie') ?? [] }
}
