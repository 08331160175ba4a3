import { ModelError } from '../../core/model.ts'
import { describeProvider, type Provider, type Refusal, toModelError, toRefusal } from './provider-error.ts'
import { toRetryAfter } from './retry-after.ts'

/** The parts of the package's errors that are read; those of connections have no status. */
interface Thrown {
  status?: number
  /** The body's `error`, missing where the body is no JSON. */
  error?: unknown
  headers?: Headers
  message: string
}

/** What a response's status and body say, or undefined where no response came. */
export function fromResponseError(thrown: unknown): Refusal | undefined {
  if (!isThrown(thrown) || typeof thrown.status !== 'number') return undefined
  return toRefusal(thrown.error ?? plainText(thrown), thrown.status)
}

/** The error to throw for what the package threw before a reply began. `now` is in unix milliseconds. */
export function toSendError(provider: Provider, thrown: unknown, now: number): ModelError {
  const refusal = fromResponseError(thrown)
  if (refusal && isThrown(thrown)) {
    return toModelError(provider, refusal, { retryAfter: toRetryAfter(thrown.headers, now) })
  }
  const cause = findCoded(thrown)
  if (!cause || cause.code === 'ERR_INVALID_URL') return unusable(provider)
  return toModelError(provider, { ...NOTHING_SAID, kind: 'network', code: cause.code }, { cause })
}

const NOTHING_SAID = { status: undefined, param: undefined, said: undefined }

/** The cause is left out: it quotes the address or the header that could not be used. */
function unusable(provider: Provider): ModelError {
  return new ModelError(
    'rejected',
    `${describeProvider(provider)} could not be asked. Check OPENAI_BASE_URL (http or https, no user in it) and OPENAI_API_KEY for what does not belong there.`,
  )
}

/** The words of a body that is no JSON; a web page says nothing. The package puts the status before them. */
function plainText({ status, message }: Thrown): string | undefined {
  const text = message.replace(`${status} `, '')
  return text.startsWith('<') || text === 'status code (no body)' ? undefined : text
}

/** The first in a chain of causes that has the system's or the HTTP client's code. */
export function findCoded(error: unknown): (Error & { code: string }) | undefined {
  if (!(error instanceof Error)) return undefined
  return hasCode(error) ? error : findCoded(error.cause)
}

function hasCode(error: Error): error is Error & { code: string } {
  return 'code' in error && typeof error.code === 'string'
}

function isThrown(value: unknown): value is Thrown {
  return value instanceof Error
}
