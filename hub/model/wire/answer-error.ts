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

/** What a response says that is not the wanted one. `now` is in unix milliseconds. */
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

/** The error's object, wherever the provider puts it, or the words of a body that is no JSON; a web page says nothing. */
function readError(text: string): unknown {
  const parsed = parseJson(text)
  // Google puts it into a list.
  const body: unknown = Array.isArray(parsed) ? parsed[0] : parsed
  if (typeof body !== 'object' || body === null) return text.trimStart().startsWith('<') ? undefined : text
  return 'error' in body && body.error ? body.error : body
}

/** The error for a request that got no response. */
export function toNetworkError(provider: Provider, thrown: unknown): ModelError {
  if (thrown instanceof ModelError) return thrown
  const cause = findCoded(thrown)
  if (!cause || cause.code === 'ERR_INVALID_URL') return unusable(provider)
  const refusal = { status: undefined, param: undefined, said: undefined, code: cause.code }
  return toModelError(provider, { ...refusal, kind: 'network' }, { cause })
}

/**
 * The error for what a package throws before it sends anything. That quotes the address or the header where one of them
 * cannot be used; everything else is about the request.
 */
export function toUnsentError(provider: Provider, thrown: unknown): ModelError {
  const isOfConfig = thrown instanceof TypeError && /header|url/i.test(thrown.message)
  if (isOfConfig || !(thrown instanceof Error)) return unusable(provider)
  return unsent(provider, thrown)
}

/** The cause is left out: it quotes the address or the header that could not be used. */
function unusable(provider: Provider): ModelError {
  return new ModelError(
    'rejected',
    `${describeProvider(provider)} could not be asked. Check ${nameAddress(provider)} (http or https, no user in it) and ${provider.keyVariable ?? 'OPENAI_API_KEY'} for what does not belong there.`,
  )
}

/** The first in a chain of causes that has the system's or the HTTP client's code. */
export function findCoded(error: unknown): (Error & { code: string }) | undefined {
  if (!(error instanceof Error)) return undefined
  return hasCode(error) ? error : findCoded(error.cause)
}

function hasCode(error: Error): error is Error & { code: string } {
  return 'code' in error && typeof error.code === 'string'
}
