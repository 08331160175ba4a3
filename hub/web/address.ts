/**
 * The address's hash holds `#token=…`, which is only read and cleared at once, and `#c=<conversation>` or
 * `#p=<place>/<section>`.
 */

const SESSION = 'superbloom.session'
const HOLDER = 'superbloom.name'
/** Key under which earlier versions of the page kept the hub's own token. */
const TOKEN = 'superbloom.token'

/** Takes the token out of the address, so that it stays in no history and no screenshot. */
export function takeToken(): string | null {
  const hash = new URLSearchParams(location.hash.slice(1))
  const token = hash.get('token')
  if (token === null) return null
  hash.delete('token')
  replaceHash(hash)
  return token.trim() || null
}

export function conversationInAddress(): string | null {
  return new URLSearchParams(location.hash.slice(1)).get('c')
}

export function placeInAddress(): string | null {
  return new URLSearchParams(location.hash.slice(1)).get('p')
}

/** Puts a conversation into the address; `asStep`: the back button returns to the one before. */
export function showInAddress(id: string, asStep: boolean) {
  if (conversationInAddress() === id) return
  const hash = `#c=${encodeURIComponent(id).replaceAll('%2F', '/')}`
  history[asStep ? 'pushState' : 'replaceState'](null, '', hash)
}

/** Puts a place into the address; the back button returns to what was shown before. */
export function showPlaceInAddress(path: string) {
  if (placeInAddress() !== path) history.pushState(null, '', `#p=${path}`)
}

function replaceHash(hash: URLSearchParams) {
  const rest = hash.size > 0 ? `#${hash}` : ''
  history.replaceState(null, '', location.pathname + location.search + rest)
}

/** The token of this browser's session, and the name of who holds it. */
export const storedSession = {
  get: () => read(SESSION),
  name: () => read(HOLDER),
  set(token: string, name: string) {
    write(SESSION, token)
    write(HOLDER, name)
  },
  forget() {
    write(SESSION, null)
    write(HOLDER, null)
  },
}

/** Takes the token that an earlier version of the page kept; it is exchanged for a session. */
export function takeStoredToken(): string | null {
  const token = read(TOKEN)
  write(TOKEN, null)
  return token
}

/** Reads a setting of this browser; null where there is none or storage is forbidden. */
export function read(key: string) {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

/** Writes a setting of this browser, or removes it (null), where storage is allowed. */
export function write(key: string, value: string | null) {
  try {
    if (value === null) localStorage.removeItem(key)
    else localStorage.setItem(key, value)
  } catch {
    return
  }
}
