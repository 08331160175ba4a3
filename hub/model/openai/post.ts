import http, { type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import https from 'node:https'
import { type Duplex, pipeline, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { urlToHttpOptions } from 'node:url'
import { parseJson } from '../../core/json.ts'
import { type Client, createClient } from './client.ts'
import type { Provider } from './provider-error.ts'

/** A response that has begun. Who gets it reads the body to its end, or aborts the call's signal. */
export interface Answer {
  /** Its `content-type`, empty where it has none. */
  type: string
  body: Readable
}

/**
 * Posts JSON to one path of a provider. Throws the package's error where the provider refuses, and what the network
 * says.
 */
export type Post = (body: string, signal: AbortSignal) => Promise<Answer>

/**
 * The package says once where the requests go and with which headers; after that each is only its body on one of the
 * platform's kept connections. To be made by the package and sent by `fetch` would cost each a seventh of a turn.
 */
export function createPost(provider: Provider, path: string): Post {
  const load = createClient(provider)
  let target: Promise<Target> | undefined
  return async (body, signal) => {
    target ??= load().then(client => toTarget(client, path))
    const known = await target
    signal.throwIfAborted()
    return send(known, body, signal)
  }
}

interface Target extends Pick<Client, 'APIError'> {
  url: URL
  headers: Record<string, string>
  options: RequestOptions
}

async function toTarget({ openai, APIError }: Client, path: string): Promise<Target> {
  const type = { 'Content-Type': 'application/json' }
  const built = await openai.buildRequest({ method: 'post', path, body: '{}', headers: type, stream: true })
  const url = new URL(built.url)
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new TypeError('The address is not one of http or https, or has a user in it')
  }
  const headers = { ...Object.fromEntries(built.req.headers), 'accept-encoding': 'identity' }
  return { url, headers, options: { ...urlToHttpOptions(url), method: 'POST', headers }, APIError }
}

async function send(target: Target, body: string, signal: AbortSignal): Promise<Answer> {
  const { options, url, headers } = target
  const request = (url.protocol === 'https:' ? https : http).request(options)
  // Given to the request itself, a signal that aborts just as the response ends throws where nobody catches.
  signal.addEventListener('abort', () => request.destroy(), { once: true })
  request.end(body)
  const response = await untilAnswered(request).catch(error => {
    if (signal.aborted || !request.reusedSocket || !isReset(error)) throw error
  })
  // A provider may close a kept connection just as the request goes there.
  if (!response) return send(target, body, signal)
  const { statusCode: status = 0 } = response
  if (status >= 200 && status < 300) {
    return { type: response.headers['content-type'] ?? '', body: await toDecoded(response) }
  }
  if (status >= 400)
    throw toRefused(target, status, await text(await toDecoded(response)), toHeaders(response))
  // It is elsewhere: the platform goes after it.
  response.destroy()
  const moved = await fetch(url, { method: 'POST', headers, body, signal })
  if (!moved.ok) throw toRefused(target, moved.status, await moved.text(), moved.headers)
  return {
    type: moved.headers.get('content-type') ?? '',
    body: moved.body ? Readable.fromWeb(moved.body) : Readable.from([]),
  }
}

/** A gateway may compress although it is asked not to. */
async function toDecoded(response: IncomingMessage): Promise<Readable> {
  const encoding = response.headers['content-encoding']?.toLowerCase()
  if (encoding === undefined || encoding === '' || encoding === 'identity') return response
  const create = (await loadDecoders()).get(encoding)
  if (!create) {
    response.destroy()
    throw new Error(`The answer is encoded as ${encoding}, which was not asked for`)
  }
  const decoder = create()
  // Who reads the decoder is told of what goes wrong in either.
  pipeline(response, decoder, () => undefined)
  return decoder
}

/** Loaded where something is compressed: most providers never do. */
async function loadDecoders(): Promise<ReadonlyMap<string, () => Duplex>> {
  const zlib = await import('node:zlib')
  return new Map<string, () => Duplex>([
    ['gzip', zlib.createGunzip],
    ['x-gzip', zlib.createGunzip],
    ['deflate', zlib.createInflate],
    ['br', zlib.createBrotliDecompress],
    ['zstd', zlib.createZstdDecompress],
  ])
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
}

/** What breaks after the response has begun comes through that too. */
function untilAnswered(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve)
    request.on('error', reject)
  })
}

function toHeaders({ headersDistinct }: IncomingMessage): Headers {
  const pairs = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  )
  return new Headers(pairs)
}

/** As the package itself reads a refusal: some providers put what they say straight into the body. */
function toRefused({ APIError }: Target, status: number, body: string, headers: Headers): Error {
  const parsed = parseJson(body)
  // Google puts it into a list.
  const said: unknown = Array.isArray(parsed) ? parsed[0] : parsed
  if (typeof said !== 'object' || said === null) return APIError.generate(status, undefined, body, headers)
  return APIError.generate(status, 'error' in said ? said : { error: said }, undefined, headers)
}
