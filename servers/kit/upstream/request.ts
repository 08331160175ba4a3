import type { Redact } from '../../../schemas/redact.ts'
import { type Clock, sleep, timeoutSignal, unlessAborted } from '../clock.ts'
import { ToolFailure } from '../failure.ts'
import { toSpanText } from '../text.ts'
import { type RequestBody, toSentBody } from './body.ts'
import { type Connection, type Exchange, exchange, type HttpAnswer, readBytes } from './exchange.ts'
import {
  type Explain,
  explainNetwork,
  explainRedirect,
  explainStatus,
  type FailedRequest,
  toUpstreamFailure,
  type UpstreamSettings,
} from './explain.ts'
import { UpstreamFailure } from './failure.ts'
import { findReason } from './reason.ts'
import { decideRetry, readRetryAfter } from './retry.ts'

type QueryValue = string | number | boolean | undefined
type Query = Readonly<Record<string, QueryValue | readonly (string | number)[]>>
export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

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
  /** Statuses besides 2xx that are not failures, such as 304 or Transmission's 409. */
  accept?: readonly number[] | undefined
  maxBytes?: number | undefined
  /** True if the limit is only for the head of the answer, whose body is a stream of events. */
  endless?: boolean | undefined
}

/** The place and the credentials of a request. */
export interface Opened {
  /** The base URL. */
  url: string
  headers?: Readonly<Record<string, string>> | undefined
  connection?: Connection | undefined
}

/** The upstream of a request. */
export interface Target {
  title: string
  /** Returns the base URL without secrets, or the path of a socket. */
  address(): string
  /** Called for each attempt. */
  open(): Promise<Opened>
  settings: UpstreamSettings
  redact: Redact
  clock: Clock
  limit: number
  maxBytes: number
  /** False if reads are not retried either. */
  retries?: boolean | undefined
  explain?: Explain | undefined
  exchange?: Exchange | undefined
  random?: (() => number) | undefined
}

/** Returns the request in the words of a failure. */
export function toFailedRequest(
  { title, address, settings, redact }: Target,
  method: string,
  path: string,
): FailedRequest {
  return { title, address: address(), method, path, settings, redact }
}

/**
 * Sends a request, with its retries, and returns what `read` makes of the answer. Rejects with
 * UpstreamFailure or with the reason of the caller's signal.
 */
export async function request<Value>(
  target: Target,
  method: Method,
  path: string,
  options: RequestOptions,
  read: (answer: HttpAnswer) => Promise<Value>,
): Promise<Value> {
  const span = options.limit ?? target.limit
  const limit = timeoutSignal(target.clock, span)
  const signal = options.signal ? AbortSignal.any([options.signal, limit.signal]) : limit.signal
  const isRead = method === 'GET' || method === 'HEAD' || options.read === true
  const random = target.random ?? Math.random
  const onHead = () => options.endless && limit.cancel()
  try {
    for (let retry = 0; ; retry++) {
      const outcome = await attempt(target, method, path, { ...options, signal }, onHead, read).then(
        value => ({ value }),
        (failure: unknown) => ({ failure }),
      )
      if ('value' in outcome) return outcome.value
      const { failure } = outcome
      options.signal?.throwIfAborted()
      if (limit.signal.aborted) throw toTimeout(toFailedRequest(target, method, path), span)
      const mayRetry = target.retries !== false && isRead && failure instanceof UpstreamFailure
      const delay = mayRetry ? decideRetry(failure, retry, random()) : undefined
      if (delay === undefined) throw failure
      const waited = await sleep(target.clock, delay, signal).then(
        () => true,
        () => false,
      )
      options.signal?.throwIfAborted()
      if (!waited) throw failure
    }
  } finally {
    limit.cancel()
  }
}

async function attempt<Value>(
  target: Target,
  method: Method,
  path: string,
  options: RequestOptions & { signal: AbortSignal },
  onHead: () => void,
  read: (answer: HttpAnswer) => Promise<Value>,
): Promise<Value> {
  const { signal } = options
  const failed = () => toFailedRequest(target, method, path)
  let answer: HttpAnswer | undefined
  try {
    const { url, headers: own, connection } = await unlessAborted(target.open(), signal)
    const { body, headers } = await toSentBody(options.body)
    answer = await (target.exchange ?? exchange)({
      method,
      url: toUrl(url, path, options.query),
      headers: { accept: 'application/json', ...headers, ...own, ...options.headers },
      body,
      connection,
      signal,
    })
    const { status } = answer
    if ((status < 200 || status >= 300) && !options.accept?.includes(status)) {
      throw await explainAnswer(target, failed(), answer)
    }
    onHead()
    return await read(answer)
  } catch (error) {
    if (signal.aborted || error instanceof ToolFailure) throw error
    throw explainNetwork(failed(), error, target.explain)
  } finally {
    answer?.body.destroy()
  }
}

async function explainAnswer(target: Target, failed: FailedRequest, { status, headers, body }: HttpAnswer) {
  const location = headers.get('location')
  if (status >= 300 && status < 400 && location !== null) return explainRedirect(failed, status, location)
  const reason = failed.redact(findReason(new TextDecoder().decode(await readBytes(body, target.maxBytes))))
  const retryAfter = readRetryAfter(headers.get('retry-after'), target.clock.now())
  return explainStatus(failed, { status, reason, retryAfter }, target.explain)
}

function toUrl(base: string, path: string, query: Query = {}): URL {
  const url = new URL(`${base}${path}`)
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(one))
  }
  return url
}

function toTimeout(failed: FailedRequest, span: number) {
  return toUpstreamFailure(failed, {
    kind: 'timeout',
    what: `${failed.title} did not answer within ${toSpanText(span / 1000)}.`,
    why: `no whole answer came from ${failed.address} in that time`,
    fix: `Try once more; if it stays so, look whether ${failed.title} is busy or hangs.`,
    transient: true,
  })
}
