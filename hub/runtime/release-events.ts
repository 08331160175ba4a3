import type { EventFact } from '../../schemas/inbox.ts'
import type { Clock } from '../core/clock.ts'
import type { DueSource } from '../core/due.ts'
import { dueEvents, newestBehind, nextRelease, recordRelease } from '../store/event-releases.ts'
import { lockEvents } from '../store/events.ts'
import type { Store } from '../store/open.ts'
import type { EventRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'
import { LONGEST_RELEASE_MS } from './decide-edge.ts'
import { decideRoute, findTakers, postTo, type RouteEventDeps, type Routing } from './route-event.ts'

/** Events that go out in one commit. */
const TURN = 50

/** Creates the source that posts held events at their time. `announce` gets the routings after the commit. */
export function createEventReleases(
  deps: RouteEventDeps & { store: Store; clock: Clock },
  announce: (routings: readonly Routing[]) => void,
): DueSource {
  const times = () => {
    const now = deps.clock.now()
    return { now, latest: now + LONGEST_RELEASE_MS }
  }
  return {
    nextDue: () => nextRelease(deps.store.db, times()),
    async fire() {
      const routings = await deps.store.write(async tx => {
        await lockEvents(tx)
        const all: Routing[] = []
        for (const event of await dueEvents(tx, { ...times(), limit: TURN }))
          all.push(await release(deps, tx, event))
        return all
      })
      announce(routings)
      return routings.length === TURN
    },
  }
}

/** Posts a held event; one that stands for a storm goes out with the payload of the storm's newest event. */
async function release(deps: RouteEventDeps, tx: Tx, event: EventRow): Promise<Routing> {
  const now = deps.clock.now()
  const { payload_json, at } = event.is_storm ? await newestBehind(tx, event) : event
  const payload = JSON.parse(payload_json) as EventFact['payload']
  const { id, type, source } = event
  const takers = await findTakers(deps, tx, { type, payload })
  const { status, routedTo, note } = decideRoute(takers)
  await recordRelease(tx, id, {
    status,
    routed_to_json: JSON.stringify(routedTo),
    note,
    release_at: now,
  })
  if (status === 'pending') await postTo(tx, takers, { id, type, source, payload, at }, now)
  return { event: { id, status, routedTo, note }, woken: takers.waiting.map(schedule => schedule.agent) }
}
