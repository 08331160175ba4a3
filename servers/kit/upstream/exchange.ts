import type { Agent, AgentOptions, IncomingMessage } from 'node:http'
import type { RequestOptions as SecureOptions } from 'node:https'
import type { Readable } from 'node:stream'
import { VERSION } from '../version.ts'

/** `timeout`: milliseconds that an idle connection is kept, or less if the upstream says so. */
const KEPT = { keepAlive: true, timeout: 4000 }

/** What a connection needs besides a URL: a socket's path, certificates. */
export type Connection = Pick<
  SecureOptions,
  'socketPath' | 'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'
>

export interface HttpRequest {
  method: string
  /** A URL with http: or https:. */
  url: URL
  headers: Readonly<Record<string, string>>
  body?: string | Uint8Array | undefined
  connection?: Connection | undefined
  signal: AbortSignal
}

/** A subset of the platform's `Headers`, which would load all of fetch. */
export type AnswerHeaders = Pick<Headers, 'get' | 'getSetCookie'>

export interface HttpAnswer {
  status: number
  headers: AnswerHeaders
  /** The caller reads or destroys it. */
  body: Readable
}

/**
 * Sends one request; resolves with the head of the answer. Follows no redirects. Rejects as the socket does,
 * or once the signal aborts, which also ends the body.
 */
export type Exchange = (request: HttpRequest) => Promise<HttpAnswer>

/**
 * Uses Node's own client, loaded at the first request: fetch would take 13 MB more of an idle server's
 * memory, and an `import` of node:http loads fetch too, for its WebSocket. Connections are kept alive and
 * shared.
 */
export const exchange: Exchange = async ({ method, url, headers, body, connection, signal }) => {
  const { request, agent } = url.protocol === 'https:' ? openSecure() : openPlain()
  const length = body === undefined ? undefined : { 'content-length': String(Buffer.byteLength(body)) }
  const sent = { 'user-agent': `superbloom/${VERSION}`, 'accept-encoding': 'identity', ...headers, ...length }
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { ...connection, method, headers: sent, agent, signal }
    request(url, options, resolve).on('error', reject).end(body)
  })
  signal.addEventListener('abort', () => answer.destroy(), { once: true })
  return { status: answer.statusCode ?? 0, headers: toHeaders(answer), body: answer }
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

/** Reads a whole body; undefined if it is larger than `max` bytes, and the rest is not read. */
export async function readBytes(body: Readable, max: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
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
