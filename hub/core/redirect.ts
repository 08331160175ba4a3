/** The most redirects of one request. */
export const MOST_REDIRECTS = 5

/** Statuses that let a request be repeated as it is, and those that let a GET be. */
const AS_IT_IS: ReadonlySet<number> = new Set([307, 308])
const AS_GET: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/**
 * Returns where a request to `url` is repeated; undefined if it is not. It stays on the same server, because
 * its headers and its body are between that server and the hub.
 */
export function decideRedirect(
  method: string,
  url: URL,
  { status, location }: { status: number; location: unknown },
): URL | undefined {
  const statuses = method === 'GET' ? AS_GET : AS_IT_IS
  const next = statuses.has(status) && typeof location === 'string' ? URL.parse(location, url.href) : null
  if (!next) return undefined
  const isSecured = url.protocol === 'http:' && next.protocol === 'https:' && next.host === url.host
  return next.origin === url.origin || (isSecured && url.port === '') ? next : undefined
}
