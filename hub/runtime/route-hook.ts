import type { HookEvent, HookOutcome } from '../../schemas/webhooks.ts'
import { eventBy, newestOfSubject } from '../store/events.ts'
import type { EventRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'
import { type RouteEventDeps, type Routing, routeEvent } from './route-event.ts'

/** The outcome of a webhook's event; `routing` is set if the event is new. */
export interface HookRouting {
  outcome: HookOutcome
  routing?: Routing
}

/** Records and posts a webhook's event; a repeat gives the outcome of the event that was there. */
export async function routeHook(deps: RouteEventDeps, tx: Tx, event: HookEvent): Promise<HookRouting> {
  const { once, ...rest } = event
  const before = await findRepeated(tx, event, deps.clock.now())
  if (before) return { outcome: { id: before.id, status: before.status, repeated: true } }
  const externalId =
    once.kind === 'id' ? `id/${once.id}` : `${once.subject}/${once.state}@${deps.newId('hook')}`
  const routing = await routeEvent(deps, tx, { ...rest, externalId })
  if (!routing) throw new Error(`The event ${externalId} of ${event.source} was there already`)
  return { outcome: { id: routing.event.id, status: routing.event.status }, routing }
}

async function findRepeated(tx: Tx, { source, once }: HookEvent, now: number): Promise<EventRow | undefined> {
  if (once.kind === 'id') return eventBy(tx, source, `id/${once.id}`)
  const { subject, state, within } = once
  const newest = await newestOfSubject(tx, { source, subject: `${subject}/`, now, within })
  return newest?.external_id.startsWith(`${subject}/${state}@`) ? newest : undefined
}
