import type { EventStore } from '@modelcontextprotocol/server'
import { createKeptEvents, type KeptEvent } from './kept-events.ts'

/** So many messages of one session, and characters of them, are kept for a client that lost its connection. */
const MOST = { events: 500, characters: 4 * 1024 * 1024 }

/** The messages of a session's streams, so that a client goes on where its connection broke. */
export function createEventStore(): EventStore {
  const events = createKeptEvents<KeptEvent & { stream: string }>(MOST)
  let count = 0
  return {
    async storeEvent(stream, message) {
      const id = `${stream}~${++count}`
      events.add({ id, stream, text: JSON.stringify(message) })
      return id
    },
    getStreamIdForEventId: async id => events.all.find(event => event.id === id)?.stream,
    async replayEventsAfter(lastEventId, { send }) {
      const last = events.all.findIndex(({ id }) => id === lastEventId)
      const stream = events.all[last]?.stream ?? ''
      const missed = events.all.slice(last + 1).filter(event => event.stream === stream)
      for (const { id, text } of missed) {
        // The event that only opened a stream says nothing.
        if (text !== '{}') await send(id, JSON.parse(text))
      }
      return stream
    },
  }
}
