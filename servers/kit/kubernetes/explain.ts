import type { Explain } from '../upstream/explain.ts'

const FORBIDDEN =
  /User "([^"]+)" cannot (\w+) (?:resource|path) "([^"]+)"(?: in API group "([^"]*)")?(?: in the namespace "([^"]+)")?/

/** The words about a refusal of the API, which say which user lacks which right. */
export const explain: Explain = {
  status(title, status, reason) {
    switch (status) {
      case 401:
        return {
          kind: 'unauthorized',
          what: `${title} did not accept the credentials.`,
          fix: 'The token or certificate of the kubeconfig is wrong or has run out: get a new kubeconfig, or log in anew.',
        }
      case 403:
        return {
          kind: 'forbidden',
          what: `${title} does not allow this user to do this.`,
          fix: toMissingRight(reason),
        }
      case 404:
        return {
          kind: 'not_found',
          what: `${title} has nothing like that.`,
          fix: 'Check the name and the namespace.',
        }
      case 409:
        return {
          kind: 'refused',
          what: `${title} was changed by someone else at the same moment.`,
          fix: 'Try once more.',
          transient: true,
        }
      default:
        return undefined
    }
  },
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
