import {
  AuthorizationServerMismatchError,
  isHttpsUrl,
  type StoredOAuthClientInformation,
} from '@modelcontextprotocol/client'
import type { OAuthSettings } from '../server-spec.ts'
import type { Credentials } from './credentials.ts'

/**
 * Returns the hub's client at the authorization server `issuer`; undefined if the hub has to introduce itself
 * there. Throws if the known client is for another issuer: a secret that one has seen is never shown to
 * another because a server says so.
 */
export function decideClient(
  { clientId, clientSecret, issuer: only }: Partial<OAuthSettings>,
  kept: Credentials['client'] | undefined,
  issuer: string,
): StoredOAuthClientInformation | undefined {
  const isBound = kept !== undefined && isSameIssuer(kept.issuer, issuer)
  if (only !== undefined && !isSameIssuer(only, issuer))
    throw new AuthorizationServerMismatchError(only, issuer)
  if (!isRegistered(clientId)) return isBound ? kept : undefined
  if (only === undefined && kept?.client_id === clientId && !isBound)
    throw new AuthorizationServerMismatchError(kept.issuer, issuer)
  return {
    client_id: clientId,
    ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
    issuer,
  }
}

/**
 * Tells whether a client id was registered beforehand. An https URL names a document that describes the
 * client; it is used if the authorization server can read it.
 */
export function isRegistered(clientId: string | undefined): clientId is string {
  return clientId !== undefined && !isHttpsUrl(clientId)
}

/** Compares issuers as they are, except for the slash that parsing a URL adds. */
export function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, '') === other.replace(/\/$/, '')
}
