import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server'

/** So many messages of one session are kept for a client that lost its connection. */
const MOST_EVENTS = 500

/** The messages of a session's streams, so that a client goes on where its connection broke. */
export function createEventStore(): EventStore {
  const events: { id: string; stream: string; message: JSONRPCMessage }[] = []
  let count = 0
  return {
    async storeEvent(stream, message) {
      const id = `${stream}~${++count}`
      events.push({ id, stream, message })
      if (events.length > MOST_EVENTS) events.shift()
      return id
    },
    getStreamIdForEventId: async id => events.find(event => event.id === id)?.stream,
    async replayEventsAfter(lastEventId, { send }) {
      const last = events.findIndex(({ id }) => id === lastEventId)
      const stream = events[last]?.stream ?? ''
      const missed = events.slice(last + 1).filter(event => event.stream === stream)
      for (const { id, message } of missed) {
        // The event that only opened a stream says nothing.
        if (Object.keys(message).length > 0) await send(id, message)
      }
      return stream
    },
  }
}
