import type { ConversationEntry } from '../../schemas/chat.ts'
import type { Chat } from './chat.ts'

type Listener = (entry: ConversationEntry) => void

/** Tells of conversations that began or changed, each read once for all listeners. */
export interface EntryNews extends Disposable {
  /** Calls `listener` until the returned function is called. Nothing is read while nobody listens. */
  on(listener: Listener): () => void
}

export function createEntryNews({
  signals,
  findEntry,
  log,
}: Pick<Chat, 'signals' | 'findEntry' | 'log'>): EntryNews {
  const listeners = new Set<Listener>()
  const tell = async (id: string) => {
    const entry = await findEntry(id)
    if (entry) for (const listener of listeners) listener(entry)
  }
  const read = (id: string) => {
    if (listeners.size > 0) tell(id).catch(error => log.error('conversation_not_told', { error }))
  }
  const offs = [
    signals.on('message', ({ seq, conversation }) => seq === 1 && read(conversation)),
    signals.on('conversation', ({ id }) => read(id)),
  ]
  return {
    on(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    [Symbol.dispose]() {
      for (const off of offs) off()
    },
  }
}
