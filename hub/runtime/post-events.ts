import type { NewEvent, RoutedEvent } from '../../schemas/inbox.ts'
import type { HookEvent, HookOutcome } from '../../schemas/webhooks.ts'
import type { DueSource } from '../core/due.ts'
import { type EventCursor, lockEvents, saveCursor } from '../store/events.ts'
import type { Store } from '../store/open.ts'
import { createEventReleases } from './release-events.ts'
import { type RouteEventDeps, type Routing, routeEvent } from './route-event.ts'
import { type HookRouting, routeHook } from './route-hook.ts'

/** Takes events from all sources; each promise resolves once they are on the disk. */
export interface EventPosts {
  /** Posts one event; undefined if it was there already. */
  postEvent(event: NewEvent): Promise<RoutedEvent | undefined>
  /** Posts the events of one webhook delivery; a repeat gives the outcomes of the first. */
  postHook(events: readonly HookEvent[]): Promise<HookOutcome[]>
  /** Posts the events of a server's feed, together with how far it was read. */
  postFeed(server: string, events: NewEvent[], cursor: EventCursor): Promise<void>
  /** The source that posts held events at their time. */
  readonly eventReleases: DueSource
}

/** Creates EventPosts; `announce` gets the new events' routings after their commit. */
export function createEventPosts(
  deps: RouteEventDeps & { store: Store },
  announce: (routings: readonly Routing[]) => void,
): EventPosts {
  return {
    eventReleases: createEventReleases(deps, announce),
    async postEvent(event) {
      const routing = await deps.store.write(async tx => {
        await lockEvents(tx)
        return routeEvent(deps, tx, event)
      })
      if (routing) announce([routing])
      return routing?.event
    },
    async postHook(events) {
      const taken = await deps.store.write(async tx => {
        await lockEvents(tx)
        const all: HookRouting[] = []
        for (const event of events) all.push(await routeHook(deps, tx, event))
        return all
      })
      announce(taken.flatMap(({ routing }) => routing ?? []))
      return taken.map(({ outcome }) => outcome)
    },
    async postFeed(server, events, cursor) {
      const routings = await deps.store.write(async tx => {
        await lockEvents(tx)
        const all: Routing[] = []
        for (const event of events) {
          const routing = await routeEvent(deps, tx, event)
          if (routing) all.push(routing)
        }
        await saveCursor(tx, server, cursor)
        return all
      })
      announce(routings)
    },
  }
}
