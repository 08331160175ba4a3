import { IssuerMismatchError } from '@modelcontextprotocol/client'
import { describeError } from '../../core/errors.ts'

/** The most characters that are shown of what an authorization server says. */
const LONGEST = 300

/**
 * Says why a server does not let the hub in, or why that could not be found out. By its name the SDK knows
 * that a handshake failed for want of a login, and not because of the era.
 */
export class LoginFault extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UnauthorizedError'
  }
}

/** Says that a person has to log in: nothing more can be asked of the server until then. */
export class NeedsLogin extends LoginFault {
  constructor(server: string, why = '') {
    super(`needs a login${why}: run superbloom servers login ${server}`)
  }
}

/** Returns what went wrong during a login, without the secrets that the error may quote. */
export function describeFault(error: unknown, secrets: readonly unknown[]): string {
  // The other issuer's name was chosen by whoever redirected the browser, so people are not shown it.
  if (error instanceof IssuerMismatchError && error.kind === 'authorization_response')
    return `the browser came back from another issuer than ${error.expected}`
  let text = describeError(error)
  for (const secret of secrets) {
    if (typeof secret === 'string' && secret.length > 3) text = text.replaceAll(secret, '***')
  }
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}
