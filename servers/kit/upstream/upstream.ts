import type { z } from 'zod'
import { createRedact } from '../../../schemas/redact.ts'
import { type Clock, systemClock } from '../clock.ts'
import { cleanText, toByteText } from '../text.ts'
import { type AnswerHeaders, type Exchange, readBytes } from './exchange.ts'
import { type FailedRequest, toUnexpected, toUpstreamFailure, type UpstreamSettings } from './explain.ts'
import { UpstreamFailure } from './failure.ts'
import { looksLikePage } from './reason.ts'
import { type Method, type RequestOptions, request, type Target, toFailedRequest } from './request.ts'

export type { Method, RequestOptions } from './request.ts'

const DEFAULT_LIMIT = 10_000
const DEFAULT_MAX_BYTES = 10 * 1024 * 1024
const MAX_ISSUES = 3

export interface UpstreamOptions {
  /** The name in logs and health: "radarr". */
  name: string
  /** The name in sentences: "Radarr (4k)"; default the name. */
  title?: string | undefined
  /** The base URL, such as "http://nas:7878/radarr"; no user info, no query. */
  url: string
  /** Headers of every request; those with telling names (Authorization, X-Api-Key …) count as secrets. */
  headers?: Readonly<Record<string, string>> | undefined
  /** Milliseconds for a whole call with its retries; default 10 s. */
  limit?: number | undefined
  /** Largest size of an answer's body; default 10 MiB. */
  maxBytes?: number | undefined
  /** Texts that are redacted everywhere: keys in the path or the query, passwords. */
  secrets?: readonly string[] | undefined
  settings?: UpstreamSettings | undefined
  /** The problem of its settings; if set, every request fails with it. */
  problem?: string | undefined
  clock?: Clock | undefined
  exchange?: Exchange | undefined
  /** Returns 0 up to 1, for the jitter of the back-off. */
  random?: (() => number) | undefined
}

export interface RawAnswer {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly bytes: Uint8Array
  text(): string
}

type WithSchema<Schema extends z.ZodType> = RequestOptions & { schema: Schema }

/**
 * Requests to one upstream over HTTP. All calls reject with UpstreamFailure, or with the reason of the
 * caller's signal. GET, HEAD and calls with `read: true` are retried twice on network errors, 429, 502, 503
 * and 504; writes never. Redirects are failures. `path` begins with "/" and is appended to the URL's own
 * path; encode values from outside.
 */
export interface Client {
  /** Returns the JSON answer, parsed by the schema. */
  get<Schema extends z.ZodType>(path: string, options: WithSchema<Schema>): Promise<z.output<Schema>>
  /** Returns the parsed JSON answer with a schema; without one the answer's body is ignored. */
  send<Schema extends z.ZodType>(
    method: Method,
    path: string,
    options: WithSchema<Schema>,
  ): Promise<z.output<Schema>>
  send(method: Method, path: string, options?: RequestOptions): Promise<void>
  /** Returns the answer as it is: for texts, images and other protocols. */
  raw(method: Method, path: string, options?: RequestOptions): Promise<RawAnswer>
  /** Returns what `read` makes of the answer's body as it arrives. */
  stream<Value>(
    path: string,
    options: RequestOptions,
    read: (body: AsyncIterable<Buffer>, failed: FailedRequest) => Promise<Value>,
  ): Promise<Value>
}

/** One configured upstream. */
export interface Upstream extends Omit<Client, 'stream'> {
  readonly name: string
  readonly title: string
  /** The base URL without secrets. */
  readonly address: string
}

/**
 * Creates an upstream. It connects at the first request; connections are kept alive and shared by all
 * upstreams.
 */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { name, title = name, problem, headers, settings = {}, clock = systemClock } = options
  if (problem !== undefined) return createMisconfigured(name, title, settings.url ?? name, problem)
  const { origin, pathname } = new URL(options.url)
  const url = `${origin}${pathname}`.replace(/\/+$/, '')
  const redact = createRedact(options.secrets ?? [], headers)
  const address = redact(url)
  const client = createClient({
    title,
    address: () => address,
    open: async () => ({ url, headers }),
    settings,
    redact,
    clock,
    limit: options.limit ?? DEFAULT_LIMIT,
    maxBytes: options.maxBytes ?? DEFAULT_MAX_BYTES,
    exchange: options.exchange,
    random: options.random,
  })
  return { name, title, address, ...client }
}

/** Creates the requests to a target of any kind. */
export function createClient(target: Target): Client {
  const raw: Client['raw'] = (method, path, options = {}) =>
    request(target, method, path, options, async ({ status, headers, body }) => {
      const max = options.maxBytes ?? target.maxBytes
      const isTooLarge = Number(headers.get('content-length')) > max
      const bytes = isTooLarge ? undefined : await readBytes(body, max)
      if (bytes === undefined) throw toTooLarge(toFailedRequest(target, method, path), max)
      return { status, headers, bytes, text: () => new TextDecoder().decode(bytes) }
    })
  const send = async (
    method: Method,
    path: string,
    options: RequestOptions & { schema?: z.ZodType } = {},
  ) => {
    const answer = await raw(method, path, options)
    return options.schema && parseAnswer(toFailedRequest(target, method, path), options.schema, answer)
  }
  return {
    raw,
    send: send as Client['send'],
    get: (path, options) => (send as Client['send'])('GET', path, options),
    stream: (path, options, read) =>
      request(target, 'GET', path, options, ({ body }) => read(body, toFailedRequest(target, 'GET', path))),
  }
}

/** Creates an upstream with wrong settings: every request fails and says so. */
function createMisconfigured(name: string, title: string, where: string, why: string): Upstream {
  const refuse = async (): Promise<never> => {
    throw new UpstreamFailure({
      kind: 'refused',
      what: `${title} cannot be used: its settings are wrong.`,
      where,
      why: why.replaceAll('\n', ' ').replace(/\.$/, ''),
      fix: 'Ask the owner to correct this setting and to start this server again; what else is configured goes on.',
    })
  }
  return { name, title, address: where, get: refuse, send: refuse, raw: refuse }
}

function parseAnswer<Schema extends z.ZodType>(failed: FailedRequest, schema: Schema, answer: RawAnswer) {
  const text = answer.text()
  const parsed = schema.safeParse(text.trim() === '' ? undefined : parseJson(failed, text, answer.status))
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues
    .slice(0, MAX_ISSUES)
    .map(
      issue =>
        `${cleanText(issue.path.map(String).join('.') || 'the answer', 80)}: ${cleanText(issue.message).replace('received undefined', 'but it is missing')}`,
    )
  throw toUnexpected(failed, issues.join('; '), answer.status)
}

function parseJson(failed: FailedRequest, text: string, status: number): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const page = looksLikePage(text)
    throw toUpstreamFailure(failed, {
      kind: 'not_json',
      what: `${failed.title} did not answer with JSON.`,
      why: page ? 'it answered with a web page' : `it answered "${cleanText(text, 60)}"`,
      fix: `Check that ${failed.settings.url ?? 'its URL'} is the address of ${failed.title} itself, with its base path, and not of a login page or a proxy before it.`,
      status,
    })
  }
}

function toTooLarge(failed: FailedRequest, max: number) {
  return toUpstreamFailure(failed, {
    kind: 'too_large',
    what: `${failed.title} answered with more than can be taken.`,
    why: `the answer is longer than ${toByteText(max)}`,
    fix: 'Ask for less: fewer items, or a narrower search.',
  })
}
