import { z } from 'zod'
import { fromHttpDate } from '../../core/clock.ts'
import { parseJson } from '../../core/json.ts'
import { ModelError } from '../../core/model.ts'
import {
  describeProvider,
  type Endpoint,
  nameAddress,
  nameKey,
  toModelError,
  toRefusal,
  unsent,
} from './provider-error.ts'

/** Reads the error of a response that is not the wanted one. `now` is in unix milliseconds. */
export async function toAnswerError(
  endpoint: Endpoint,
  response: Response,
  now: number,
): Promise<ModelError> {
  const { status, headers } = response
  const text = await response.text()
  const moved = status >= 300 && status < 400 ? headers.get('location')?.split('?', 1)[0] : undefined
  const error =
    moved === undefined ? readError(text) : `it is at ${moved} now; if you trust that, make it the baseUrl`
  return toModelError(endpoint, toRefusal(error, status), { retryAfter: toRetryAfter(headers, error, now) })
}

/**
 * Returns the error's object, wherever it is, or the text of a body that is no JSON; undefined for a web
 * page.
 */
function readError(text: string): unknown {
  const parsed = parseJson(text)
  // Google sends the error in a list.
  const body: unknown = Array.isArray(parsed) ? parsed[0] : parsed
  if (typeof body !== 'object' || body === null) return text.trimStart().startsWith('<') ? undefined : text
  return 'error' in body && body.error ? body.error : body
}

/** Returns the error for a request that got no response. */
export function toNetworkError(endpoint: Endpoint, thrown: unknown): ModelError {
  if (thrown instanceof ModelError) return thrown
  const cause = findCoded(thrown)
  if (!cause || cause.code === 'ERR_INVALID_URL') return unusable(endpoint)
  const refusal = { status: undefined, param: undefined, said: undefined, code: cause.code }
  return toModelError(endpoint, { ...refusal, kind: 'network' }, { cause })
}

/**
 * Returns the error for what a package throws before it sends anything. A TypeError that names a header or
 * the URL is about the configuration; every other error is about the request.
 */
export function toUnsentError(endpoint: Endpoint, thrown: unknown): ModelError {
  const isOfConfig = thrown instanceof TypeError && /header|url/i.test(thrown.message)
  if (isOfConfig || !(thrown instanceof Error)) return unusable(endpoint)
  return unsent(endpoint, thrown)
}

/** Returns an error without its cause, which quotes the address or the header that could not be used. */
function unusable(endpoint: Endpoint): ModelError {
  return new ModelError(
    'rejected',
    `${describeProvider(endpoint)} could not be asked. Check ${nameAddress(endpoint)} (http or https, no user in it) and ${nameKey(endpoint)} for what does not belong there.`,
  )
}

/** Returns the first error in a chain of causes that has a code of the system or of the HTTP client. */
export function findCoded(error: unknown): (Error & { code: string }) | undefined {
  if (!(error instanceof Error)) return undefined
  const isCoded = 'code' in error && typeof error.code === 'string'
  return isCoded ? (error as Error & { code: string }) : findCoded(error.cause)
}

const retryInfo = z.object({ details: z.array(z.object({ retryDelay: z.string().optional() })) })

/**
 * Returns the milliseconds that a response asks to wait: `retry-after-ms`, else `retry-after` in seconds or
 * as an HTTP date, else the `RetryInfo` of Google's error.
 */
export function toRetryAfter(headers: Headers, error: unknown, now: number): number | undefined {
  const inMs = toNumber(headers.get('retry-after-ms'))
  if (inMs !== undefined) return inMs
  const text = headers.get('retry-after')
  const details = retryInfo.safeParse(error).data?.details
  const delay = details?.find(({ retryDelay }) => retryDelay)?.retryDelay
  const seconds = toNumber(text) ?? toNumber(delay?.replace(/s$/, ''))
  if (seconds !== undefined) return seconds * 1000
  const at = text ? fromHttpDate(text) : undefined
  return at === undefined ? undefined : Math.max(0, at - now)
}

function toNumber(text: string | null | undefined): number | undefined {
  return text && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined
}
