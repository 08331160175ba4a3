import {
  type EventFact,
  type EventListed,
  eventWanted,
  type NewEvent,
  type RoutedEvent,
} from '../../schemas/inbox.ts'
import type { Power } from '../../schemas/power.ts'
import type { Clock } from '../core/clock.ts'
import { isWanted } from '../core/event-match.ts'
import type { NewId } from '../core/ids.ts'
import { toCanonicalJson } from '../core/json.ts'
import { countRepeat, recordEvent } from '../store/events.ts'
import { schedulesWaitingForEvents } from '../store/schedules.ts'
import type { ScheduleRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'
import { fireEarly } from './firing.ts'
import { findHold } from './hold-event.ts'
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
  const { source, type, payload, at, power = 'foreign' } = event
  const key = event.key ?? toCanonicalJson(payload)
  const takers = await findTakers(deps, tx, event)
  const agents = takers.listing.map(({ agent }) => agent)
  const isWaitedFor = takers.waiting.length > 0
  const hold = isWaitedFor ? undefined : await findHold(tx, { type, key, payload }, agents, now)
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
    power,
  })
  if (!recorded) return undefined
  if (route.status === 'pending') await postTo(tx, takers, fact, { now, power })
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
  by: { now: number; power: Power },
): Promise<void> {
  for (const schedule of waiting) await fireEarly(tx, schedule, fact, by)
  for (const taker of listing) await postEventTo(tx, taker, fact, by)
}
