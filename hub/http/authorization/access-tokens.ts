import { discoverAuthorizationServerMetadata, type FetchLike } from '@modelcontextprotocol/client'
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { type Clock, timeoutSignal } from '../../core/clock.ts'
import { describeError, HubError } from '../../core/errors.ts'

/** Signatures that are taken: all with a pair of keys, so that a public key signs nothing. */
const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512', 'EdDSA']
/** Seconds by which the clocks of two machines may differ. */
const TOLERANCE_S = 30
const KEYS_FAILED = ['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID']
/** Milliseconds after which an issuer that could not be asked is asked again. */
const RETRY_MS = 10_000
/** Milliseconds that an issuer may take to say where its keys are; every request with a token waits for it. */
const LONGEST_MS = 5_000

export interface Issuer {
  /** The `iss` of its tokens. */
  issuer: string
  keys: JWTVerifyGetKey
}

/**
 * Returns the claims of an access token (RFC 9068), `expired` for one whose time is over, or undefined for one
 * that is not the issuer's or is for something else.
 */
export async function readAccessToken(
  token: string,
  { issuer, keys }: Issuer,
  audience: string[],
): Promise<JWTPayload | 'expired' | undefined> {
  try {
    const checks = { issuer, audience, algorithms: ALGORITHMS, clockTolerance: TOLERANCE_S }
    const { payload } = await jwtVerify(token, keys, { ...checks, requiredClaims: ['exp', 'sub'] })
    return payload
  } catch (error) {
    if (error instanceof errors.JWTExpired) return 'expired'
    // The set of keys could not be fetched, as against an error of the token.
    const isAboutKeys = error instanceof errors.JOSEError && KEYS_FAILED.includes(error.code)
    if (isAboutKeys || !(error instanceof errors.JOSEError)) throw toUnavailable(issuer, error)
    return undefined
  }
}

/** Finds an issuer of the config by its metadata, at the first use. What it returns throws `unavailable`. */
export function createIssuerFinder(url: string, clock: Clock): () => Promise<Issuer> {
  let found: { issuer: Promise<Issuer>; until: number } | undefined
  return () => {
    if (found && clock.monotonic() < found.until) return found.issuer
    const limit = timeoutSignal(clock, LONGEST_MS, url)
    const issuer = findIssuer(url, limit.signal)
      .finally(limit.cancel)
      .catch(error => {
        asked.until = clock.monotonic() + RETRY_MS
        throw toUnavailable(url, error)
      })
    const asked = { issuer, until: Number.POSITIVE_INFINITY }
    found = asked
    return issuer
  }
}

async function findIssuer(url: string, signal: AbortSignal): Promise<Issuer> {
  const fetchFn: FetchLike = (address, init) => fetch(address, { ...init, signal })
  const metadata = await discoverAuthorizationServerMetadata(url, { fetchFn })
  const keys = metadata && 'jwks_uri' in metadata ? metadata.jwks_uri : undefined
  if (typeof keys !== 'string') throw new Error('its metadata (RFC 8414) name no jwks_uri')
  return { issuer: metadata?.issuer ?? url, keys: createRemoteJWKSet(new URL(keys)) }
}

function toUnavailable(issuer: string, cause: unknown): HubError {
  const why = `The authorization server ${issuer} cannot be asked: ${describeError(cause)}`
  return new HubError('unavailable', why, { cause })
}
