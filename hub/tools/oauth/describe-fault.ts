import { IssuerMismatchError } from '@modelcontextprotocol/client'
import { describeError } from '../../core/errors.ts'

/** Of what an authorization server says, so much is shown. */
const LONGEST = 300

/** What went wrong while logging in, without what is secret, whoever quotes it. */
export function describeFault(error: unknown, secrets: readonly unknown[]): string {
  // Whoever sent the browser back chose the other name: people are not shown it.
  if (error instanceof IssuerMismatchError && error.kind === 'authorization_response')
    return `the browser came back from another issuer than ${error.expected}`
  let text = describeError(error)
  for (const secret of secrets) {
    if (typeof secret === 'string' && secret.length > 3) text = text.replaceAll(secret, '***')
  }
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}
