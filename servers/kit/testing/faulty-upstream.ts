import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The upstream's way to answer. `slow` never does; `reset` breaks the connection; `huge` sends 32 MiB. */
export type Answer =
  | { kind: 'send'; status: number; body: string | Uint8Array; headers: Record<string, string> }
  | { kind: 'slow' }
  | { kind: 'reset' }
  | { kind: 'huge' }

/** A received request, with its whole body. */
export interface Seen {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  body: string
}

export type Route = Answer | ((seen: Seen) => Answer | Promise<Answer>)

export const ok = (json: unknown, headers: Record<string, string> = {}): Answer => status(200, json, headers)

/** Returns a status with a JSON body, or a text one if `body` is a string. */
export const status = (code: number, body: unknown = '', headers: Record<string, string> = {}): Answer => {
  const type = typeof body === 'string' ? 'text/plain' : 'application/json'
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { kind: 'send', status: code, body: text, headers: { 'content-type': type, ...headers } }
}

export const slow: Answer = { kind: 'slow' }
export const reset: Answer = { kind: 'reset' }
export const huge: Answer = { kind: 'huge' }
export const garbage: Answer = status(200, '}{ \u0000 not json', { 'content-type': 'application/json' })
export const html: Answer = status(200, '<!doctype html><title>Login</title>', {
  'content-type': 'text/html',
})
export const redirect = (to: string): Answer => status(302, '', { location: to })

/** All faults of an upstream, by name: for `test.each`. `down` is an upstream that was disposed of. */
export const FAULTS: Readonly<Record<string, Answer>> = {
  'wrong key': status(401, { error: 'Unauthorized' }),
  forbidden: status(403, 'no'),
  'status 500': status(500, 'oops'),
  slow,
  reset,
  garbage,
  html,
  redirect: redirect('http://elsewhere.example/login'),
  huge,
  'another shape': ok('surprise'),
}

export interface FaultyUpstream extends AsyncDisposable {
  /** The base URL: "http://127.0.0.1:40123". */
  readonly url: string
  readonly requests: Seen[]
  /** Resolves when the next request has arrived. */
  nextRequest(): Promise<Seen>
  /** Adds or replaces routes: "GET /api/v3/movie", without a query. A request without a route gets 404. */
  route(routes: Readonly<Record<string, Route>>): void
  /** Sets the answer of every request from now on; undefined restores the routes. */
  will(answer: Answer | undefined): void
  /** Sets the answers of the next requests, one each, before anything else. */
  next(...answers: Answer[]): void
}

/** Starts a real HTTP server on a free port of 127.0.0.1 that answers as configured. */
export async function startFaultyUpstream(
  routes: Readonly<Record<string, Route>> = {},
): Promise<FaultyUpstream> {
  const table = new Map<string, Route>(Object.entries(routes))
  const queue: Answer[] = []
  const requests: Seen[] = []
  let forced: Answer | undefined
  let arrived = Promise.withResolvers<Seen>()

  const decide = (seen: Seen): Answer | Promise<Answer> => {
    const given = queue.shift() ?? forced
    if (given) return given
    const route = table.get(`${seen.method} ${seen.path}`) ?? status(404, { message: 'NotFound' })
    return typeof route === 'function' ? route(seen) : route
  }
  const http = createServer((request, response) => {
    void readSeen(request).then(async seen => {
      requests.push(seen)
      arrived.resolve(seen)
      arrived = Promise.withResolvers()
      act(await decide(seen), response)
    })
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    requests,
    nextRequest: () => arrived.promise,
    route(more) {
      for (const [name, route] of Object.entries(more)) table.set(name, route)
    },
    will(answer) {
      forced = answer
    },
    next: (...answers) => void queue.push(...answers),
    async [Symbol.asyncDispose]() {
      if (!http.listening) return
      http.close()
      http.closeAllConnections()
      await once(http, 'close')
    },
  }
}

async function readSeen(request: IncomingMessage): Promise<Seen> {
  const { method = '', url = '/', headers } = request
  let body = ''
  request.setEncoding('utf8')
  for await (const chunk of request) body += chunk
  const { pathname, searchParams } = new URL(url, 'http://upstream')
  return { method, path: pathname, query: searchParams, headers, body }
}

function act(answer: Answer, response: ServerResponse): void {
  switch (answer.kind) {
    case 'send':
      response.writeHead(answer.status, answer.headers).end(answer.body)
      return
    case 'slow':
      return
    case 'reset':
      response.destroy()
      return
    case 'huge': {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('["')
      response.end(Buffer.alloc(32 * 1024 * 1024, 'x'))
      return
    }
    default:
      answer satisfies never
  }
}
