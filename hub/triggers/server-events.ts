import { EVENTS_AT_ONCE, eventFeed, type ServerEvent } from '../../schemas/events.ts'
import type { NewEvent } from '../../schemas/inbox.ts'
import { type Clock, sleep } from '../core/clock.ts'
import { parseJson, withoutNul } from '../core/json.ts'
import type { Log } from '../core/log.ts'
import type { EventCursor } from '../store/events.ts'
import { StoreFault } from '../store/writer.ts'

/** Milliseconds until events that the database could not take are read again. */
const STORE_RETRY_MS = 10_000

/** The part of a server that reading its events needs. */
export interface EventSource {
  spec: { name: string; trust?: 'own' | 'third' }
  eventsUri: string | undefined
  readResource(uri: string): Promise<{ contents: readonly object[] }>
}

export interface ServerEventsDeps {
  clock: Clock
  log: Log
  /** Aborts when the hub ends. */
  ending: AbortSignal
  readCursor: (server: string) => Promise<EventCursor | undefined>
  /** Posts the events together with the cursor behind them. */
  post: (server: string, events: NewEvent[], cursor: EventCursor) => Promise<void>
}

/**
 * Creates a function that reads on from the stored cursor. Call it whenever a server says that it has news;
 * each server has one reading at a time. A feed that broke is read again at the next news.
 */
export function createServerEvents(deps: ServerEventsDeps): (source: EventSource) => void {
  const reading = new Map<string, { again: boolean }>()
  const run = async (source: EventSource, state: { again: boolean }) => {
    const { name } = source.spec
    try {
      do {
        state.again = false
        await readUntilStored(deps, source)
      } while (state.again)
    } catch (error) {
      deps.log.warn('events_not_read', { server: name, error })
    } finally {
      reading.delete(name)
    }
  }
  return source => {
    const { name } = source.spec
    const state = reading.get(name)
    if (state) {
      state.again = true
      return
    }
    const fresh = { again: false }
    reading.set(name, fresh)
    void run(source, fresh)
  }
}

/** Repeats the reading while the database fails: the server does not announce the events a second time. */
async function readUntilStored(deps: ServerEventsDeps, source: EventSource): Promise<void> {
  for (;;) {
    try {
      if (!(await readFeed(deps, source))) return
    } catch (error) {
      if (!(error instanceof StoreFault)) throw error
      deps.log.warn('events_not_stored', { server: source.spec.name, error })
      await sleep(deps.clock, STORE_RETRY_MS, deps.ending)
    }
  }
}

/** Reads and posts one page of the feed. Tells whether there may be more behind it. */
async function readFeed(deps: ServerEventsDeps, source: EventSource): Promise<boolean> {
  const { name, trust } = source.spec
  if (source.eventsUri === undefined) return false
  const known = await deps.readCursor(name)
  const asked = await readAfter(source, source.eventsUri, known?.cursor ?? 0)
  // A new stream counts from 0 again, so it is read from its beginning.
  const feed =
    known && asked.stream !== known.stream && known.cursor > 0
      ? await readAfter(source, source.eventsUri, 0)
      : asked
  if (known?.stream === feed.stream && known.cursor === feed.cursor) return false
  const events = feed.events.map(event => {
    const power = trust === 'own' ? ('routine' as const) : ('foreign' as const)
    return { ...toNewEvent(name, event), power }
  })
  await deps.post(name, events, { stream: feed.stream, cursor: feed.cursor })
  return feed.events.length >= EVENTS_AT_ONCE
}

function toNewEvent(source: string, { id, type, key, payload, at }: ServerEvent): NewEvent {
  return { source, externalId: id, type, key, payload, at }
}

async function readAfter(source: EventSource, uri: string, after: number) {
  const { contents } = await source.readResource(`${uri}?after=${after}`)
  const [first] = contents
  const text = first && 'text' in first ? String(first.text) : ''
  return eventFeed.parse(withoutNul(parseJson(text)))
}
