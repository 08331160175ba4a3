/** @import { Pending } from './types.d.ts' */

const PREFIX = 'superbloom.outbox.'

/**
 * Keeps unacknowledged messages across reloads. Each message has its own key, so that two tabs never
 * overwrite each other's. Storage that is full or forbidden (then even `getStorage` throws) only costs that
 * protection.
 * @param {() => Storage} getStorage
 */
export function createOutbox(getStorage) {
  return {
    /** @param {Pending} pending */
    put({ clientId, conversation, text, at, images }) {
      attempt(() =>
        getStorage().setItem(PREFIX + clientId, JSON.stringify({ clientId, conversation, text, at, images })),
      )
    },
    /** @param {string} clientId */
    remove(clientId) {
      attempt(() => getStorage().removeItem(PREFIX + clientId))
    },
    /** Returns the messages, the oldest first. @returns {Pending[]} */
    list() {
      return (attempt(() => Object.keys(getStorage())) ?? [])
        .filter(key => key.startsWith(PREFIX))
        .map(key => parse(getStorage().getItem(key)))
        .filter(pending => pending !== null)
        .sort((a, b) => a.at - b.at)
    },
    clear() {
      for (const { clientId } of this.list()) this.remove(clientId)
    },
  }
}

/** @param {string | null} text @returns {Pending | null} */
function parse(text) {
  try {
    const value = JSON.parse(text ?? 'null')
    return value && typeof value.clientId === 'string' && typeof value.text === 'string' ? value : null
  } catch {
    return null
  }
}

/**
 * @template Value
 * @param {() => Value} run
 * @returns {Value | undefined} undefined where the storage refuses
 */
function attempt(run) {
  try {
    return run()
  } catch {
    return undefined
  }
}
