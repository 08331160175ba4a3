import { eventFeed, type ServerEvent } from '../../schemas/events.ts'
import { parseJson } from '../core/json.ts'
import type { Log } from '../core/log.ts'
import type { EventCursor } from '../store/events.ts'

/** A server whose events are read, as much of it as that needs. */
export interface EventSource {
  spec: { name: string }
  eventsUri: string | undefined
  readResource(uri: string): Promise<{ contents: readonly object[] }>
}

export interface ServerEventsDeps {
  log: Log
  readCursor: (server: string) => Promise<EventCursor | undefined>
  /** Posts the events together with the cursor behind them. */
  post: (server: string, events: ServerEvent[], cursor: EventCursor) => Promise<void>
}

/**
 * Reads on from the stored cursor whenever a server says that it has news, one reading at a time for each server.
 * A feed that broke is read again at the next news.
 */
export function createServerEvents(deps: ServerEventsDeps): (source: EventSource) => void {
  const reading = new Map<string, { again: boolean }>()
  const run = async (source: EventSource, state: { again: boolean }) => {
    const { name } = source.spec
    try {
      do {
        state.again = false
        await readFeed(deps, source)
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

async function readFeed(deps: ServerEventsDeps, source: EventSource): Promise<void> {
  const { name } = source.spec
  if (source.eventsUri === undefined) return
  const known = await deps.readCursor(name)
  const asked = await readAfter(source, source.eventsUri, known?.cursor ?? 0)
  // Another stream counts from 0 again: what it has is read from its beginning.
  const feed =
    known && asked.stream !== known.stream && known.cursor > 0
      ? await readAfter(source, source.eventsUri, 0)
      : asked
  if (known?.stream === feed.stream && known.cursor === feed.cursor) return
  await deps.post(name, feed.events, { stream: feed.stream, cursor: feed.cursor })
}

async function readAfter(source: EventSource, uri: string, after: number) {
  const { contents } = await source.readResource(`${uri}?after=${after}`)
  const [first] = contents
  const text = first && 'text' in first ? String(first.text) : ''
  return eventFeed.parse(parseJson(text))
}
