import type { EventFact, NewEvent, RoutedEvent } from '../../schemas/inbox.ts'
import type { HookEvent, HookOutcome } from '../../schemas/webhooks.ts'
import type { DueSource } from '../core/due.ts'
import { record } from '../store/audit-log.ts'
import { dueEvents, newestBehind, nextRelease, recordRelease } from '../store/event-releases.ts'
import { type EventCursor, eventBy, lockEvents, newestOfSubject, saveCursor } from '../store/events.ts'
import type { Store } from '../store/open.ts'
import type { EventRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'
import { LONGEST_HOLD_MS } from './hold-event.ts'
import {
  decideRoute,
  findTakers,
  postTo,
  type RouteEventDeps,
  type Routing,
  routeEvent,
} from './route-event.ts'

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

type Deps = RouteEventDeps & { store: Store }

/** Events of one delivery that its row in the audit names. */
const SHOWN_EVENTS = 10
/** Held events that go out in one commit. */
const TURN = 50

/** Creates EventPosts; `announce` gets the new events' routings after their commit. */
export function createEventPosts(deps: Deps, announce: (routings: readonly Routing[]) => void): EventPosts {
  const { store, clock } = deps
  const times = () => ({ now: clock.now(), latest: clock.now() + LONGEST_HOLD_MS })
  /** Does the work in one commit, and announces the routings that it adds. */
  const post = async <Result>(work: (tx: Tx, routings: Routing[]) => Promise<Result>): Promise<Result> => {
    const { result, routings } = await store.write(async tx => {
      await lockEvents(tx)
      const all: Routing[] = []
      return { result: await work(tx, all), routings: all }
    })
    announce(routings)
    return result
  }
  const route = async (tx: Tx, event: NewEvent, routings: Routing[]) => {
    const routing = await routeEvent(deps, tx, event)
    if (routing) routings.push(routing)
    return routing?.event
  }
  return {
    postEvent: event =>
      post(async (tx, routings) => {
        const routed = await route(tx, event, routings)
        if (routed) await recordArrival(tx, event, [routed], clock.now())
        return routed
      }),
    postHook: events =>
      post(async (tx, routings) => {
        const outcomes: HookOutcome[] = []
        for (const { once, ...event } of events) {
          const before = await findRepeated(tx, { source: event.source, once }, clock.now())
          if (before) {
            outcomes.push({ id: before.id, status: before.status, repeated: true })
            continue
          }
          const state =
            once.kind === 'id' ? `id/${once.id}` : `${once.subject}/${once.state}@${deps.newId('hook')}`
          const routed = await route(tx, { ...event, externalId: state }, routings)
          if (!routed) throw new Error(`The event ${state} of ${event.source} was there already`)
          outcomes.push({ id: routed.id, status: routed.status })
        }
        const [first] = events
        if (first) await recordArrival(tx, first, outcomes, clock.now())
        return outcomes
      }),
    postFeed: (server, events, cursor) =>
      post(async (tx, routings) => {
        for (const event of events) await route(tx, event, routings)
        await saveCursor(tx, server, cursor)
      }),
    eventReleases: {
      nextDue: () => nextRelease(store.db, times()),
      fire: () =>
        post(async (tx, routings) => {
          for (const event of await dueEvents(tx, { ...times(), limit: TURN }))
            routings.push(await release(deps, tx, event))
          return routings.length === TURN
        }),
    },
  }
}

/** Adds to the audit what a client or a webhook delivered; what the hub itself tells is no delivery. */
async function recordArrival(
  tx: Tx,
  { source, type, power }: Pick<NewEvent, 'source' | 'type' | 'power'>,
  events: readonly HookOutcome[],
  at: number,
): Promise<void> {
  const [door, name] = source.split(':')
  if (name === undefined) return
  const isHook = door === 'webhook'
  const outcome = events.every(({ repeated }) => repeated) ? 'repeated' : 'accepted'
  await record(tx, {
    at,
    kind: isHook ? 'webhook' : 'event',
    actor: isHook ? `hook:${name}` : name,
    door,
    power,
    outcome,
    details: {
      type,
      events: events.slice(0, SHOWN_EVENTS),
      ...(events.length > SHOWN_EVENTS && { count: events.length }),
    },
  })
}

/** Returns the event that a delivery repeats. */
async function findRepeated(
  tx: Tx,
  { source, once }: Pick<HookEvent, 'source' | 'once'>,
  now: number,
): Promise<EventRow | undefined> {
  if (once.kind === 'id') return eventBy(tx, source, `id/${once.id}`)
  const { subject, state, within } = once
  const newest = await newestOfSubject(tx, { source, subject: `${subject}/`, now, within })
  return newest?.external_id.startsWith(`${subject}/${state}@`) ? newest : undefined
}

/** Posts a held event; one that stands for a storm goes out with the payload of the storm's newest event. */
async function release(deps: RouteEventDeps, tx: Tx, event: EventRow): Promise<Routing> {
  const now = deps.clock.now()
  const { payload_json, at } = event.is_storm ? await newestBehind(tx, event) : event
  const payload = JSON.parse(payload_json) as EventFact['payload']
  const { id, type, source, power } = event
  const takers = await findTakers(deps, tx, { type, payload })
  const { status, routedTo, note } = decideRoute(takers)
  const routed_to_json = JSON.stringify(routedTo)
  await recordRelease(tx, id, { status, routed_to_json, note, release_at: now })
  if (status === 'pending') await postTo(tx, takers, { id, type, source, payload, at }, { now, power })
  return { event: { id, status, routedTo, note }, woken: takers.waiting.map(schedule => schedule.agent) }
}
