import { EVENTS_AT_ONCE, type EventFeed } from '../../../schemas/events.ts'
import { HubError } from '../../core/errors.ts'
import { parseJson } from '../../core/json.ts'
import { eventsAfter, readEventFeed } from '../../store/events.ts'
import type { EventRow } from '../../store/tables.ts'
import type { HubToolReads } from '../hub-tools/deps.ts'
import { JSON_TYPE, type ResourceKind } from './kind.ts'

export const EVENTS_URI = 'events://hub'
/** Characters of the longest key that a feed holds. */
const MAX_KEY = 500

const about = `JSON: {"stream", "cursor", "events": [{"id", "seq", "type", "key", "payload", "at"}]}. Times are unix milliseconds.`

/**
 * Creates the resource of all events in the infrastructure, however the hub learnt of them, in the shape of a
 * server's feed.
 */
export function createEventResource(deps: HubToolReads): ResourceKind {
  return {
    template: {
      uriTemplate: `${EVENTS_URI}{?after}`,
      name: 'events-after',
      title: 'Events of the hub after a cursor',
      description: `At most ${EVENTS_AT_ONCE} events after seq number "after", the oldest first; read on from the new cursor until none come. ${about}`,
      mimeType: JSON_TYPE,
    },
    argument: 'after',
    list: async () => [
      {
        uri: EVENTS_URI,
        name: 'events',
        title: 'Events of the hub',
        description: `The last ${EVENTS_AT_ONCE} events. ${about}`,
        mimeType: JSON_TYPE,
      },
    ],
    async read(uri) {
      if (uri === EVENTS_URI) return readNewest(deps)
      if (!uri.startsWith(`${EVENTS_URI}?`)) return undefined
      const [, after] = /^after=(\d{1,15})$/.exec(uri.slice(EVENTS_URI.length + 1)) ?? []
      if (after !== undefined) return readAfter(deps, Number(after))
      throw new HubError('not_found', `There is no resource ${uri}: ${EVENTS_URI}?after=<number> is meant`)
    },
    complete: async () => [],
  }
}

async function readNewest(deps: HubToolReads): Promise<EventFeed> {
  const { lastSeq } = await readEventFeed(deps.store.db)
  return readAfter(deps, Math.max(0, lastSeq - EVENTS_AT_ONCE))
}

/** Reads the events after a seq. Events that arrive during the read stay behind the cursor. */
async function readAfter({ store }: HubToolReads, after: number): Promise<EventFeed> {
  const { stream, lastSeq } = await readEventFeed(store.db)
  const events = (await eventsAfter(store.db, after, EVENTS_AT_ONCE)).map(toServerEvent)
  return { stream, cursor: events.at(-1)?.seq ?? Math.min(after, lastSeq), events }
}

/** Converts an event. A key that is too long is left out: the payload is a reader's default key. */
function toServerEvent({ id, seq, type, key, payload_json, at }: EventRow): EventFeed['events'][number] {
  const payload = parseJson(payload_json) as Record<string, unknown>
  return { id, seq, type, ...(key.length > MAX_KEY ? {} : { key }), payload, at }
}
