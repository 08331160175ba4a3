import {
  type EventFact,
  type EventListed,
  eventWanted,
  type NewEvent,
  type RoutedEvent,
} from '../../schemas/inbox.ts'
import type { Clock } from '../core/clock.ts'
import { toIso } from '../core/clock.ts'
import { isWanted } from '../core/event-match.ts'
import { matchesGlob } from '../core/glob.ts'
import type { NewId } from '../core/ids.ts'
import { toCanonicalJson } from '../core/json.ts'
import { recentEvents } from '../store/event-releases.ts'
import { countRepeat, newestOfKind, recordEvent } from '../store/events.ts'
import { schedulesWaitingForEvents } from '../store/schedules.ts'
import type { ScheduleRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'
import { decideEdge, STORM_MS } from './decide-edge.ts'
import { fireEarly } from './firing.ts'
import { findSameCause } from './same-cause.ts'
import { type EventTaker, findTaker, postEventTo } from './tasks.ts'

/** The part of an agent that routing an event needs. */
export interface ListingAgent {
  name: string
  events: readonly EventListed[]
  limits: { tasks: number }
}

export interface RouteEventDeps {
  clock: Clock
  newId: NewId
  agents: () => readonly ListingAgent[]
}

/** The level events, which say that something still is so; every other event is an edge event. */
const LEVEL_EVENTS = ['*_high', 'disk_full_warning', 'container_unhealthy']
const COOLDOWN_MS = 10 * 60_000

/** The receivers of an event: threads that wait for it, and agents whose files list it. */
export interface Takers {
  waiting: ScheduleRow[]
  listing: EventTaker[]
}

/** The route of an event, and the agents whose schedules it fired early. */
export interface Routing {
  event: RoutedEvent
  woken: string[]
  /** Time at which a held event goes out, unix milliseconds. */
  releaseAt?: number | undefined
}

/** The reason why an event does not go out at once. */
interface Hold {
  note: string
  /** The id of the event that stands for this one and counts it. */
  countedBy?: string | undefined
  /** Time at which the event itself goes out, unix milliseconds. */
  releaseAt?: number
  isStorm?: boolean
}

/**
 * Records the event and posts it to everyone who gets it, at once or later; undefined if it was there
 * already. A thread that waited for it gets it in place of its agent's own listing.
 */
export async function routeEvent(
  deps: RouteEventDeps,
  tx: Tx,
  event: NewEvent,
): Promise<Routing | undefined> {
  const now = deps.clock.now()
  const { source, type, payload, at } = event
  const key = event.key ?? toCanonicalJson(payload)
  const takers = await findTakers(deps, tx, event)
  const hold = takers.waiting.length > 0 ? undefined : await findHold(tx, { type, key, payload }, takers, now)
  const route = hold ? { status: 'held' as const, routedTo: [], note: hold.note } : decideRoute(takers)
  const fact: EventFact = { id: deps.newId('evt'), type, source, payload, at }
  const recorded = await recordEvent(tx, {
    id: fact.id,
    source,
    external_id: event.externalId,
    type,
    key,
    payload_json: JSON.stringify(payload),
    status: route.status,
    routed_to_json: JSON.stringify(route.routedTo),
    note: route.note,
    at,
    received_at: now,
    repeats: 0,
    release_at: route.status === 'pending' ? now : (hold?.releaseAt ?? null),
    is_storm: hold?.isStorm ? 1 : 0,
  })
  if (!recorded) return undefined
  if (route.status === 'pending') await postTo(tx, takers, fact, now)
  if (hold?.countedBy) await countRepeat(tx, hold.countedBy)
  const woken = takers.waiting.map(schedule => schedule.agent)
  return { event: { id: fact.id, ...route }, woken, releaseAt: hold?.releaseAt }
}

/** Returns everyone who gets such an event now. */
export async function findTakers(
  deps: RouteEventDeps,
  tx: Tx,
  { type, payload }: Pick<NewEvent, 'type' | 'payload'>,
): Promise<Takers> {
  const fits = (wanted: EventListed) => isWanted(wanted, type, payload)
  const waiting = (await schedulesWaitingForEvents(tx)).filter(schedule => wantedBy(schedule).some(fits))
  const standIns = new Set(waiting.map(schedule => schedule.agent))
  const listing: EventTaker[] = []
  for (const agent of deps.agents()) {
    const wanted = standIns.has(agent.name) ? undefined : agent.events.find(fits)
    if (wanted !== undefined) listing.push(await findTaker(deps, tx, agent, wanted))
  }
  return { waiting, listing }
}

function wantedBy(schedule: ScheduleRow) {
  return eventWanted.array().parse(JSON.parse(schedule.wake_on_events_json))
}

/** The part of an event that the rules for holding it need. */
interface Held {
  type: string
  key: string
  payload: Record<string, unknown>
}

async function findHold(tx: Tx, event: Held, { listing }: Takers, now: number): Promise<Hold | undefined> {
  const isLevel = LEVEL_EVENTS.some(glob => matchesGlob(glob, event.type))
  const own = isLevel
    ? await findCooldown(tx, event, listing, now)
    : await findEdgeHold(tx, event, listing, now)
  if (own || listing.length === 0) return own
  const agents = listing.map(taker => taker.agent)
  const same = await findSameCause(tx, event, agents, { since: now - COOLDOWN_MS, now })
  return same && { note: `held: ${same.type} (${same.id}) told of the same cause already` }
}

async function findCooldown(
  tx: Tx,
  { type, key }: Held,
  listing: readonly EventTaker[],
  now: number,
): Promise<Hold | undefined> {
  const before = await newestOfKind(tx, { type, key, now, within: COOLDOWN_MS })
  // An event that nobody took does not hold this one back from an agent that lists it since.
  if (!before || (before.status === 'ignored' && listing.length > 0)) return undefined
  const until = toIso(before.received_at + COOLDOWN_MS)
  const note = `held behind ${before.id}, which has the same type and key, until ${until}`
  return { note, countedBy: before.id }
}

async function findEdgeHold(
  tx: Tx,
  { type, key }: Held,
  listing: readonly EventTaker[],
  now: number,
): Promise<Hold | undefined> {
  if (listing.length === 0) return undefined
  const route = decideEdge(await recentEvents(tx, { type, key, now, within: STORM_MS }), now)
  switch (route.kind) {
    case 'now':
      return undefined
    case 'minute':
      return {
        note: `held until ${toIso(route.at)}: those of one minute go out together`,
        releaseAt: route.at,
      }
    case 'storm': {
      const note = `held until ${toIso(route.at)}: from the fourth within ten minutes on they go out as one`
      return { note, releaseAt: route.at, isStorm: true }
    }
    case 'counted':
      return { note: `held: ${route.behind} counts it, until ${toIso(route.at)}`, countedBy: route.behind }
    default:
      return route satisfies never
  }
}

/** Decides where an event that is not held goes, and says why in words. */
export function decideRoute({ waiting, listing }: Takers) {
  const routedTo = [...new Set([...waiting.map(s => s.thread_id), ...listing.map(({ thread }) => thread)])]
  if (routedTo.length === 0) {
    const note = 'no agent lists it and no thread waits for it'
    return { status: 'ignored' as const, routedTo, note }
  }
  const reasons = [
    ...waiting.map(schedule => `${schedule.thread_id} waited for it (${schedule.id})`),
    ...listing.map(({ why }) => why),
  ]
  return { status: 'pending' as const, routedTo, note: reasons.join('; ') }
}

/** Posts the event to its receivers. */
export async function postTo(
  tx: Tx,
  { waiting, listing }: Takers,
  fact: EventFact,
  now: number,
): Promise<void> {
  for (const schedule of waiting) await fireEarly(tx, schedule, fact, now)
  for (const taker of listing) await postEventTo(tx, taker, fact, now)
}
