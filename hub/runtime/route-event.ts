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
import { countRepeat, newestOfKind, recordEvent } from '../store/events.ts'
import { schedulesWaitingForEvents } from '../store/schedules.ts'
import type { EventRow, ScheduleRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'
import { fireEarly } from './firing.ts'
import { type EventTaker, findTaker, postEventTo } from './tasks.ts'

/** An agent, as much of it as routing an event needs. */
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

/** What says that something still is so: it is told once, and then not again for a while. */
const LEVEL_EVENTS = ['*_high', 'disk_full_warning', 'container_unhealthy']
const COOLDOWN_MS = 10 * 60_000

/** Who gets an event: threads that wait for it, and agents whose files list it. */
interface Takers {
  waiting: ScheduleRow[]
  listing: EventTaker[]
}

/** Where an event went, and the agents of whose schedules it ended one. */
export interface Routing {
  event: RoutedEvent
  woken: string[]
}

/**
 * Records the event and posts it to everyone who gets it; undefined where it was there already. A thread that waited
 * for it stands in for its agent's own listing.
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
  const before = isLevel(type) ? await newestOfKind(tx, { type, key, now, within: COOLDOWN_MS }) : undefined
  const route = decideRoute(takers, before)
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
  })
  if (!recorded) return undefined
  if (route.status === 'pending') await postTo(tx, takers, fact, now)
  if (route.status === 'held' && before) await countRepeat(tx, before.id)
  return { event: { id: fact.id, ...route }, woken: takers.waiting.map(schedule => schedule.agent) }
}

async function findTakers(deps: RouteEventDeps, tx: Tx, { type, payload }: NewEvent): Promise<Takers> {
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

function isLevel(type: string): boolean {
  return LEVEL_EVENTS.some(glob => matchesGlob(glob, type))
}

/** Where an event goes and why, in words. `before` is the newest of its type and key that still cools down. */
function decideRoute({ waiting, listing }: Takers, before: EventRow | undefined) {
  const isWaitedFor = waiting.length > 0
  // One that nobody took keeps nothing from somebody who lists it since.
  const cools = before !== undefined && (before.status !== 'ignored' || listing.length === 0)
  if (cools && !isWaitedFor) {
    const until = toIso(before.received_at + COOLDOWN_MS)
    const note = `held behind ${before.id}, which has the same type and key, until ${until}`
    return { status: 'held' as const, routedTo: [], note }
  }
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

async function postTo(tx: Tx, { waiting, listing }: Takers, fact: EventFact, now: number): Promise<void> {
  for (const schedule of waiting) await fireEarly(tx, schedule, fact, now)
  for (const taker of listing) await postEventTo(tx, taker, fact, now)
}
