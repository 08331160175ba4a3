import type { EventFeed, EventPayload, EventType, ServerEvent } from '../../schemas/events.ts'
import type { Clock } from './clock.ts'

/** Number of events that a server keeps for readers; older ones are dropped. */
export const KEPT_EVENTS = 1000
const MAX_KEY = 500

/**
 * Raises an event. `key` names its subject, the same every time (such as `disk_high:nas:/srv`), so that
 * repeats can be distinguished from news.
 */
export type Emit = <Type extends EventType>(type: Type, payload: EventPayload<Type>, key: string) => void

export type EventLog = ReturnType<typeof createEventLog>

/**
 * Creates the log of the last events of one run of a server, with listeners for new ones. `stream` must
 * differ from that of every other run of the server.
 */
export function createEventLog(server: string, stream: string, clock: Clock) {
  const uri = `events://${server}`
  const listeners = new Set<() => void>()
  let events: ServerEvent[] = []
  let seq = 0
  let announced = true
  const announce = () => {
    announced = true
    for (const listener of listeners) listener()
  }
  return {
    uri,
    template: `${uri}{?after}`,
    emit: ((type, payload, key) => {
      seq++
      const event = {
        id: `${stream}-${seq}`,
        seq,
        type,
        key: key.slice(0, MAX_KEY),
        payload,
        at: clock.now(),
      }
      events = [...events, event].slice(-KEPT_EVENTS)
      if (announced) queueMicrotask(announce)
      announced = false
    }) as Emit,
    /**
     * Returns the events after `after`, oldest first. An `after` beyond the end (of an older stream) gives
     * none.
     */
    read: (after: number): EventFeed => ({
      stream,
      cursor: seq,
      events: events.filter(event => event.seq > after),
    }),
    /**
     * Calls `listener` after events were added, once for those of the same moment. Returns a function that
     * stops it.
     */
    onChange(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/**
 * Returns the cursor that a resource's URI requests: 0 for `events://<server>` itself, n for `?after=n`;
 * undefined for any other URI.
 */
export function toCursor(uri: string, requested: string): number | undefined {
  if (requested === uri) return 0
  const match = requested.startsWith(`${uri}?`)
    ? /^after=(\d{1,15})$/.exec(requested.slice(uri.length + 1))
    : null
  return match ? Number(match[1]) : undefined
}
