import type { z } from 'zod'
import { type Clock, sleep, systemClock, timeoutSignal } from '../clock.ts'
import { cleanText, toByteText, toSpanText } from '../text.ts'
import { type RequestBody, toSentBody } from './body.ts'
import { type AnswerHeaders, type Exchange, exchange, type HttpAnswer } from './exchange.ts'
import {
  type Asked,
  explainNetwork,
  explainRedirect,
  explainStatus,
  toUpstreamFailure,
  type UpstreamSettings,
} from './explain.ts'
import { UpstreamFailure } from './failure.ts'
import { findReason, looksLikePage } from './reason.ts'
import { createRedact, type Redact } from './redact.ts'
import { decideRetry, readRetryAfter } from './retry.ts'

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

type QueryValue = string | number | boolean | undefined
export type Query = Readonly<Record<string, QueryValue | readonly (string | number)[]>>

export interface RequestOptions {
  /** Query parameters; undefined values are omitted, lists repeat their name. */
  query?: Query | undefined
  headers?: Readonly<Record<string, string>> | undefined
  /** Signal that cancels the call, which then throws the signal's reason. */
  signal?: AbortSignal | undefined
  /** Milliseconds; default the upstream's limit. */
  limit?: number | undefined
  body?: RequestBody | undefined
  /** True if a POST only reads (Transmission's RPC), so that it may be retried. */
  read?: boolean | undefined
}

export interface RawOptions extends RequestOptions {
  /** Statuses besides 2xx that are not failures, such as 304 or Transmission's 409. */
  accept?: readonly number[] | undefined
  maxBytes?: number | undefined
}

export interface RawAnswer {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly bytes: Uint8Array
  text(): string
}

type WithSchema<Schema extends z.ZodType> = RequestOptions & { schema: Schema }
export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * One upstream over HTTP. All calls reject with UpstreamFailure, or with the reason of the caller's signal.
 * GET, HEAD and calls with `read: true` are retried twice on network errors, 429, 502, 503 and 504; writes
 * never. Redirects are failures. `path` begins with "/" and is appended to the URL's own path; encode values
 * from outside.
 */
export interface Upstream {
  readonly name: string
  readonly title: string
  /** The base URL without secrets. */
  readonly address: string
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
  raw(method: Method, path: string, options?: RawOptions): Promise<RawAnswer>
}

/**
 * Creates an upstream. It connects at the first request; connections are kept alive and shared by all
 * upstreams.
 */
export function createUpstream(options: UpstreamOptions): Upstream {
  if (options.problem !== undefined) return createMisconfigured(options, options.problem)
  const target = openTarget(options)
  const { name, title, address } = target
  const raw: Upstream['raw'] = (method, path, given = {}) => request(target, method, path, given)
  const send = async (method: Method, path: string, given: RequestOptions & { schema?: z.ZodType } = {}) => {
    const answer = await raw(method, path, given)
    return given.schema && parseAnswer(toAsked(target, method, path), given.schema, answer)
  }
  return {
    name,
    title,
    address,
    raw,
    send: send as Upstream['send'],
    get: (path, given) => (send as Upstream['send'])('GET', path, given),
  }
}

/** Creates an upstream with wrong settings: every request fails and says so. */
function createMisconfigured({ name, title = name, settings }: UpstreamOptions, why: string): Upstream {
  const where = settings?.url ?? name
  const what = `${title} cannot be used: its settings are wrong.`
  const fix =
    'Ask the owner to correct this setting and to start this server again; what else is configured goes on.'
  const refuse = async (): Promise<never> => {
    throw new UpstreamFailure({
      kind: 'refused',
      what,
      where,
      why: why.replaceAll('\n', ' ').replace(/\.$/, ''),
      fix,
    })
  }
  return { name, title, address: where, get: refuse, send: refuse, raw: refuse }
}

interface Target extends UpstreamOptions {
  title: string
  address: string
  base: string
  clock: Clock
  redact: Redact
}

function openTarget(options: UpstreamOptions): Target {
  const { origin, pathname } = new URL(options.url)
  const base = `${origin}${pathname}`.replace(/\/+$/, '')
  const redact = createRedact(options.secrets ?? [], options.headers)
  const title = options.title ?? options.name
  return { ...options, title, base, address: redact(base), clock: options.clock ?? systemClock, redact }
}

function toAsked(target: Target, method: string, path: string): Asked {
  const { title, address, redact, settings = {} } = target
  return { title, address, method, path, settings, redact }
}

async function request(
  target: Target,
  method: Method,
  path: string,
  options: RawOptions,
): Promise<RawAnswer> {
  const asked = toAsked(target, method, path)
  const span = options.limit ?? target.limit ?? DEFAULT_LIMIT
  const limit = timeoutSignal(target.clock, span)
  const signal = options.signal ? AbortSignal.any([options.signal, limit.signal]) : limit.signal
  const retries = method === 'GET' || method === 'HEAD' || options.read === true
  const random = target.random ?? Math.random
  try {
    for (let retry = 0; ; retry++) {
      const outcome = await attempt(target, asked, options, signal).then(
        answer => ({ answer }),
        (failure: unknown) => ({ failure }),
      )
      if ('answer' in outcome) return outcome.answer
      const { failure } = outcome
      options.signal?.throwIfAborted()
      if (limit.signal.aborted) throw toTimeout(asked, span)
      if (!(failure instanceof UpstreamFailure)) throw failure
      const delay = retries ? decideRetry(failure, retry, random()) : undefined
      if (delay === undefined) throw failure
      const waited = await sleep(target.clock, delay, signal)
        .then(() => true)
        .catch(() => false)
      options.signal?.throwIfAborted()
      if (!waited) throw failure
    }
  } finally {
    limit.cancel()
  }
}

async function attempt(
  target: Target,
  asked: Asked,
  options: RawOptions,
  signal: AbortSignal,
): Promise<RawAnswer> {
  const { body, headers } = await toSentBody(options.body)
  const all = { accept: 'application/json', ...headers, ...target.headers, ...options.headers }
  const maxBytes = options.maxBytes ?? target.maxBytes ?? DEFAULT_MAX_BYTES
  const url = toUrl(target.base, asked.path, options.query)
  const { method } = asked
  const answer = await (target.exchange ?? exchange)({
    method,
    url,
    headers: all,
    body,
    signal,
    maxBytes,
  }).catch(error => {
    throw signal.aborted ? error : explainNetwork(asked, error)
  })
  const { status, bytes } = answer
  const fine = (status >= 200 && status < 300) || options.accept?.includes(status)
  if (!fine) throw explainAnswer(asked, answer, target.clock.now())
  if (bytes === undefined) throw toTooLarge(asked, maxBytes)
  return { status, headers: answer.headers, bytes, text: () => new TextDecoder().decode(bytes) }
}

function explainAnswer(asked: Asked, { status, headers, bytes }: HttpAnswer, now: number) {
  const location = headers.get('location')
  if (status >= 300 && status < 400 && location !== null) return explainRedirect(asked, status, location)
  const reason = asked.redact(findReason(new TextDecoder().decode(bytes)))
  return explainStatus(asked, { status, reason, retryAfter: readRetryAfter(headers.get('retry-after'), now) })
}

function toUrl(base: string, path: string, query: Query = {}): URL {
  const url = new URL(`${base}${path}`)
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(one))
  }
  return url
}

function parseAnswer<Schema extends z.ZodType>(asked: Asked, schema: Schema, answer: RawAnswer) {
  const text = answer.text()
  const parsed = schema.safeParse(text.trim() === '' ? undefined : parseJson(asked, text, answer.status))
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues
    .slice(0, MAX_ISSUES)
    .map(
      issue =>
        `${cleanText(issue.path.map(String).join('.') || 'the answer', 80)}: ${cleanText(issue.message).replace('received undefined', 'but it is missing')}`,
    )
  throw toUpstreamFailure(asked, {
    kind: 'unexpected',
    what: `${asked.title} answered in a form that is not known.`,
    why: issues.join('; '),
    fix: `Its version may be one that this server does not know, or ${asked.settings.url ?? 'its URL'} points at another program.`,
    status: answer.status,
  })
}

function parseJson(asked: Asked, text: string, status: number): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const page = looksLikePage(text)
    throw toUpstreamFailure(asked, {
      kind: 'not_json',
      what: `${asked.title} did not answer with JSON.`,
      why: page ? 'it answered with a web page' : `it answered "${cleanText(text, 60)}"`,
      fix: `Check that ${asked.settings.url ?? 'its URL'} is the address of ${asked.title} itself, with its base path, and not of a login page or a proxy before it.`,
      status,
    })
  }
}

function toTimeout(asked: Asked, span: number) {
  return toUpstreamFailure(asked, {
    kind: 'timeout',
    what: `${asked.title} did not answer within ${toSpanText(span / 1000)}.`,
    why: `no whole answer came from ${asked.address} in that time`,
    fix: `Try once more; if it stays so, look whether ${asked.title} is busy or hangs.`,
    transient: true,
  })
}

function toTooLarge(asked: Asked, max: number) {
  return toUpstreamFailure(asked, {
    kind: 'too_large',
    what: `${asked.title} answered with more than can be taken.`,
    why: `the answer is longer than ${toByteText(max)}`,
    fix: 'Ask for less: fewer items, or a narrower search.',
  })
}
