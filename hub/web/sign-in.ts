/** A session of this browser, and who holds it. */
export interface SignedIn {
  token: string
  name: string
}

/** Outcome of a sign-in: the session, or why there is none. */
export type SignIn = SignedIn | { cause: 'unauthorized' | 'forbidden' | 'unreachable' }

const URL_OF_SESSION = () => new URL('./session', document.baseURI)

/** Exchanges a token, or that of a link, for a session of this browser. */
export async function signIn(secret: string): Promise<SignIn> {
  const headers = { Authorization: `Bearer ${secret}` }
  try {
    const response = await fetch(URL_OF_SESSION(), { method: 'POST', headers })
    if (response.status === 201) return (await response.json()) as SignedIn
    if (response.status === 401 || response.status === 429) return { cause: 'unauthorized' }
    return { cause: response.status === 403 ? 'forbidden' : 'unreachable' }
  } catch {
    return { cause: 'unreachable' }
  }
}

/** Ends a session; false where the hub could not be told. It then ends by itself, once it is not used. */
export async function signOut(token: string): Promise<boolean> {
  const headers = { Authorization: `Bearer ${token}` }
  try {
    return (await fetch(URL_OF_SESSION(), { method: 'DELETE', headers })).ok
  } catch {
    return false
  }
}
