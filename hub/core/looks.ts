/** The conversations that somebody has before their eyes. */
export interface Looks {
  /** Notes that somebody looks at a conversation, until the returned function is called, once. */
  look(conversation: string): () => void
  has(conversation: string): boolean
}

export function createLooks(): Looks {
  const looking = new Map<symbol, string>()
  return {
    look(conversation) {
      const key = Symbol()
      looking.set(key, conversation)
      return () => void looking.delete(key)
    },
    has: conversation => [...looking.values()].includes(conversation),
  }
}
