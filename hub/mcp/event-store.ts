import type { EventStore } from '@modelcontextprotocol/server'

/** So many messages of one session, and characters of them, are kept for a client that lost its connection. */
const MOST_EVENTS = 500
const MOST_CHARACTERS = 4 * 1024 * 1024

/** The messages of a session's streams, so that a client goes on where its connection broke. */
export function createEventStore(): EventStore {
  const events: { id: string; stream: string; text: string }[] = []
  let count = 0
  let characters = 0
  return {
    async storeEvent(stream, message) {
      const id = `${stream}~${++count}`
      const text = JSON.stringify(message)
      events.push({ id, stream, text })
      characters += text.length
      // The newest stays however long it is: it may be the answer that its client waits for.
      while (events.length > MOST_EVENTS || (characters > MOST_CHARACTERS && events.length > 1))
        characters -= events.shift()?.text.length ?? 0
      return id
    },
    getStreamIdForEventId: async id => events.find(event => event.id === id)?.stream,
    async replayEventsAfter(lastEventId, { send }) {
      const last = events.findIndex(({ id }) => id === lastEventId)
      const stream = events[last]?.stream ?? ''
      const missed = events.slice(last + 1).filter(event => event.stream === stream)
      for (const { id, text } of missed) {
        // The event that only opened a stream says nothing.
        if (text !== '{}') await send(id, JSON.parse(text))
      }
      return stream
    },
  }
}
