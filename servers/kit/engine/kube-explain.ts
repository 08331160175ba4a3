import { explainNetwork, explainStatus } from '../upstream/explain.ts'
import type { UpstreamFailure } from '../upstream/failure.ts'
import { findReason } from '../upstream/reason.ts'
import { type Request, toFailure, toRedirect } from './explain.ts'

const FORBIDDEN =
  /User "([^"]+)" cannot (\w+) (?:resource|path) "([^"]+)"(?: in API group "([^"]*)")?(?: in the namespace "([^"]+)")?/

/**
 * Converts a refusal of the API to a failure that says which user lacks which right. `body` is its Status
 * object, or a text.
 */
export function explainKubeAnswer(request: Request, status: number, body: string): UpstreamFailure {
  const reason = findReason(body)
  const why = `it answered ${status}${reason === '' ? '' : `: "${reason}"`}`
  const { title } = request
  if (status >= 300 && status < 400) return toRedirect(request, why)
  switch (status) {
    case 401:
      return toFailure(request, {
        kind: 'unauthorized',
        what: `${title} did not accept the credentials.`,
        why,
        fix: 'The token or certificate of the kubeconfig is wrong or has run out: get a new kubeconfig, or log in anew.',
        status,
      })
    case 403:
      return toFailure(request, {
        kind: 'forbidden',
        what: `${title} does not allow this user to do this.`,
        why,
        fix: toMissingRight(reason),
        status,
      })
    case 404:
      return toFailure(request, {
        kind: 'not_found',
        what: `${title} has nothing like that.`,
        why,
        fix: 'Check the name and the namespace.',
        status,
      })
    case 409:
      return toFailure(request, {
        kind: 'refused',
        what: `${title} was changed by someone else at the same moment.`,
        why,
        fix: 'Try once more.',
        transient: true,
        status,
      })
    default:
      return explainStatus(toAsked(request), { status, reason, retryAfter: undefined })
  }
}

export function explainKubeError(request: Request, error: unknown): UpstreamFailure {
  return explainNetwork(toAsked(request), error)
}

/** Returns `Give "viewer" a role with the verb "list" on "pods" in the namespace "games".` */
function toMissingRight(reason: string): string {
  const match = FORBIDDEN.exec(reason)
  if (!match) return 'Give the user of the kubeconfig a role that allows it.'
  const [, user, verb, resource, group, namespace] = match
  const of = group ? ` of the API group "${group}"` : ''
  const where = namespace ? ` in the namespace "${namespace}"` : ' in the whole cluster'
  return `Give "${user}" a role with the verb "${verb}" on "${resource}"${of}${where}.`
}

function toAsked(request: Request) {
  return {
    ...request,
    settings: { url: 'the server in the kubeconfig', key: 'the user in the kubeconfig' },
    redact: (text: string) => text,
  }
}
