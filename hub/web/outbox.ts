import type { Pending } from './conversation.ts'

const PREFIX = 'superbloom.outbox.'

export type Outbox = ReturnType<typeof createOutbox>

/**
 * Keeps unacknowledged messages across reloads. Each message has its own key, so that two tabs never
 * overwrite each other's. Storage that is full or forbidden (then even `getStorage` throws) only costs that
 * protection.
 */
export function createOutbox(getStorage: () => Storage) {
  return {
    put({ clientId, conversation, text, at, images, files }: Pending) {
      attempt(() =>
        getStorage().setItem(
          PREFIX + clientId,
          JSON.stringify({ clientId, conversation, text, at, images, files }),
        ),
      )
    },
    remove(clientId: string) {
      attempt(() => getStorage().removeItem(PREFIX + clientId))
    },
    /** Returns the messages, the oldest first. */
    list(): Pending[] {
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

function parse(text: string | null): Pending | null {
  try {
    const value = JSON.parse(text ?? 'null')
    return value && typeof value.clientId === 'string' && typeof value.text === 'string' ? value : null
  } catch {
    return null
  }
}

/** Returns undefined where the storage refuses. */
function attempt<Value>(run: () => Value): Value | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}
