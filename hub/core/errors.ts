import { maskLogins } from './mask-secrets.ts'

/**
 * Codes of all errors that leave the hub, each with the HTTP status that it maps to. A message says what is
 * wrong, where, and what to do.
 */
export const ERRORS = {
  bad_request: 400,
  invalid_arguments: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  retired: 409,
  too_large: 413,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
  timeout: 504,
} as const

export type ErrorCode = keyof typeof ERRORS

/** An error that the hub may show to whoever caused it. Any other error becomes `internal` at the edge. */
export class HubError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'HubError'
    this.code = code
  }

  get status(): number {
    return ERRORS[this.code]
  }
}

/** Returns what an edge may show of any thrown value: a HubError as it is, else a neutral text. */
export function toPublicError(error: unknown): { code: ErrorCode; message: string; status: number } {
  if (error instanceof HubError) return { code: error.code, message: error.message, status: error.status }
  return { code: 'internal', message: 'Something went wrong inside the hub; its log says what.', status: 500 }
}

/**
 * Returns the message of any thrown value, with its causes and without the logins of addresses, for logs and for results
 * that a model reads.
 */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return maskLogins(String(error))
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map(describeError).join('; ')
  const message = maskLogins(error.message) || error.name
  if (error.cause === undefined) return message
  return `${message}${/[.!?]$/.test(message) ? ' Cause:' : ':'} ${describeError(error.cause)}`
}
