import { parseJson } from '../../core/json.ts'
import { ModelError } from '../../core/model.ts'
import {
  describeProvider,
  nameAddress,
  type Provider,
  toModelError,
  toRefusal,
  unsent,
} from '../openai/provider-error.ts'
import { toRetryAfter } from '../openai/retry-after.ts'

/** Reads the error of a response that is not the wanted one. `now` is in unix milliseconds. */
export async function toAnswerError(
  provider: Provider,
  response: Response,
  now: number,
): Promise<ModelError> {
  const { status, headers } = response
  const text = await response.text()
  const error = readError(text)
  return toModelError(provider, toRefusal(error, status), { retryAfter: toRetryAfter(headers, error, now) })
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
export function toNetworkError(provider: Provider, thrown: unknown): ModelError {
  if (thrown instanceof ModelError) return thrown
  const cause = findCoded(thrown)
  if (!cause || cause.code === 'ERR_INVALID_URL') return unusable(provider)
  const refusal = { status: undefined, param: undefined, said: undefined, code: cause.code }
  return toModelError(provider, { ...refusal, kind: 'network' }, { cause })
}

/**
 * Returns the error for what a package throws before it sends anything. A TypeError that names a header or
 * the URL is about the configuration; every other error is about the request.
 */
export function toUnsentError(provider: Provider, thrown: unknown): ModelError {
  const isOfConfig = thrown instanceof TypeError && /header|url/i.test(thrown.message)
  if (isOfConfig || !(thrown instanceof Error)) return unusable(provider)
  return unsent(provider, thrown)
}

/** Returns an error without its cause, which quotes the address or the header that could not be used. */
function unusable(provider: Provider): ModelError {
  return new ModelError(
    'rejected',
    `${describeProvider(provider)} could not be asked. Check ${nameAddress(provider)} (http or https, no user in it) and ${provider.keyVariable ?? 'OPENAI_API_KEY'} for what does not belong there.`,
  )
}

/** Returns the first error in a chain of causes that has a code of the system or of the HTTP client. */
export function findCoded(error: unknown): (Error & { code: string }) | undefined {
  if (!(error instanceof Error)) return undefined
  return hasCode(error) ? error : findCoded(error.cause)
}

function hasCode(error: Error): error is Error & { code: string } {
  return 'code' in error && typeof error.code === 'string'
}
