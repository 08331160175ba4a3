import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server'
import { createKeptEvents, type KeptEvent } from './kept-events.ts'

/** Messages of one session, and characters of them, that are kept for a client that lost its connection. */
const MOST = { events: 500, characters: 4 * 1024 * 1024 }

interface StreamEvent extends KeptEvent {
  stream: string
  /** Position among the session's messages, from 1. */
  number: number
}

/**
 * Stores the messages of a session's streams, so that a client resumes where its connection broke. A stream
 * stays known while messages of it are kept or may come: a session's own stream can be resumed even after
 * others pushed all of its messages out.
 */
export function createEventStore(): EventStore {
  const events = createKeptEvents<StreamEvent>(MOST)
  /** Streams that did not end with an answer. */
  const open = new Set<string>()
  let count = 0
  return {
    async storeEvent(stream, message) {
      const number = ++count
      const id = `${stream}~${number}`
      events.add({ id, stream, number, text: JSON.stringify(message) })
      open.delete(stream)
      if (!isAnswer(message)) open.add(stream)
      // Cancelled calls get no answer, so the stream that has been silent longest is dropped.
      const [oldest] = open
      if (open.size > MOST.events && oldest !== undefined) open.delete(oldest)
      return id
    },
    async getStreamIdForEventId(id) {
      const { stream, number } = readId(id)
      if (!(number > 0 && number <= count)) return undefined
      return open.has(stream) || events.all.some(event => event.stream === stream) ? stream : undefined
    },
    async replayEventsAfter(lastEventId, { send }) {
      const last = readId(lastEventId)
      const missed = events.all.filter(({ stream, number }) => stream === last.stream && number > last.number)
      for (const { id, text } of missed) {
        // The event that only opened a stream has no message.
        if (text !== '{}') await send(id, JSON.parse(text))
      }
      return last.stream
    },
  }
}

function readId(id: string): { stream: string; number: number } {
  const at = id.lastIndexOf('~')
  return { stream: id.slice(0, at), number: Number(id.slice(at + 1)) }
}

function isAnswer(message: JSONRPCMessage): boolean {
  return 'id' in message && !('method' in message)
}
