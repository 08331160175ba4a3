import { type FetchLike, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import type { HttpPost, Posted } from '../http/http-post.ts'
import type { Authorization } from './authorization.ts'

/**
 * Returns a `fetch` that adds the bearer token, at the server's own origin only. A refused request was not
 * carried out, so it is made once more if new tokens came.
 */
export function letFetchIn(fetch: FetchLike, authorization: Authorization): FetchLike {
  const { origin } = new URL(authorization.spec.transport.url)
  return async (url, init) => {
    if (new URL(url).origin !== origin) return fetch(url, init)
    await authorization.fresh()
    for (let again = false; ; again = true) {
      const used = authorization.bearer
      const headers = new Headers(init?.headers)
      if (used !== undefined) headers.set('Authorization', `Bearer ${used}`)
      const response = await fetch(url, { ...init, headers })
      const { status } = response
      if (status !== 401 && status !== 403) return response
      const authenticate = response.headers.get('WWW-Authenticate') ?? undefined
      if (!(await authorization.refused({ status, authenticate, used, again }))) return response
      await response.body?.cancel()
    }
  }
}

/** Does the same for forwarded calls; `createHttpPost` sends what `headersOf` returns. */
export function letPostIn(post: HttpPost, authorization: Authorization): HttpPost {
  return {
    post(request, deliver) {
      let posted: Posted | undefined
      let isCut = false
      const send = (again: boolean): Promise<void> => {
        // The client no longer waits for the request, so it must not be carried out now.
        if (isCut) return Promise.resolve()
        const used = authorization.bearer
        posted = post.post(request, deliver)
        return posted.result.catch(async error => {
          // If only the rest of an answer was refused, the request was carried out: it is not made again.
          if (!(error instanceof SdkHttpError) || error.code === SdkErrorCode.ClientHttpFailedToOpenStream)
            throw error
          const { status, data } = error
          const authenticate = typeof data['authenticate'] === 'string' ? data['authenticate'] : undefined
          if (!(await authorization.refused({ status, authenticate, used, again }))) throw error
          return send(true)
        })
      }
      const renewal = authorization.fresh()
      const cut = () => {
        isCut = true
        posted?.cut()
      }
      return { result: renewal ? renewal.then(() => send(false)) : send(false), cut }
    },
    [Symbol.dispose]() {
      post[Symbol.dispose]()
    },
  }
}

/** Returns the headers that forwarded calls carry; none without a login. */
export function headersOf(authorization: Authorization | undefined): Record<string, string> {
  const bearer = authorization?.bearer
  return bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` }
}
