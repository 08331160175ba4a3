/** The address's hash holds `#token=…`, which is only read and cleared at once, and `#c=<conversation>`. */

const TOKEN = 'superbloom.token'

/** Takes the token out of the address, so that it stays in no history and no screenshot. @returns {string | null} */
export function takeToken() {
  const hash = new URLSearchParams(location.hash.slice(1))
  const token = hash.get('token')
  if (token === null) return null
  hash.delete('token')
  replaceHash(hash)
  return token.trim() || null
}

/** @returns {string | null} */
export function conversationInAddress() {
  return new URLSearchParams(location.hash.slice(1)).get('c')
}

/** @param {string} id @param {boolean} asStep true: the back button returns to the one before */
export function showInAddress(id, asStep) {
  if (conversationInAddress() === id) return
  const hash = `#c=${encodeURIComponent(id).replaceAll('%2F', '/')}`
  history[asStep ? 'pushState' : 'replaceState'](null, '', hash)
}

/** @param {URLSearchParams} hash */
function replaceHash(hash) {
  const rest = hash.size > 0 ? `#${hash}` : ''
  history.replaceState(null, '', location.pathname + location.search + rest)
}

export const storedToken = {
  get: () => read(TOKEN),
  /** @param {string} token */
  set: token => write(TOKEN, token),
  forget: () => write(TOKEN, null),
}

/** Reads a setting of this browser; null where there is none or storage is forbidden. @param {string} key */
export function read(key) {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

/** @param {string} key @param {string | null} value null removes it */
export function write(key, value) {
  try {
    if (value === null) localStorage.removeItem(key)
    else localStorage.setItem(key, value)
    return true
  } catch {
    return false
  }
}
