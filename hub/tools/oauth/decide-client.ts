import {
  AuthorizationServerMismatchError,
  isHttpsUrl,
  type StoredOAuthClientInformation,
} from '@modelcontextprotocol/client'
import type { OAuthSettings } from '../server-spec.ts'
import type { Credentials } from './credentials.ts'

/**
 * What the hub is to the authorization server `issuer`; undefined where it has to introduce itself. Throws where that is
 * another one than what is known of the client is for: a secret that one has seen is never shown to another because a
 * server says so.
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

/** An https address is that of a document which says what the client is; it is used where the other side can read it. */
export function isRegistered(clientId: string | undefined): clientId is string {
  return clientId !== undefined && !isHttpsUrl(clientId)
}

/** Issuers are compared as they are, but for the slash that parsing an address adds. */
export function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, '') === other.replace(/\/$/, '')
}
