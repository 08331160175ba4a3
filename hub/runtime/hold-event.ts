import { toIso } from '../core/clock.ts'
import { matchesGlob } from '../core/glob.ts'
import { type RecentEvents, recentEvents } from '../store/event-releases.ts'
import { newestOfKind } from '../store/events.ts'
import type { Tx } from '../store/writer.ts'
import { findSameCause } from './same-cause.ts'

/** The level events, which say that something still is so; every other event is an edge event. */
const LEVEL_EVENTS = ['*_high', 'disk_full_warning', 'container_unhealthy']
const COOLDOWN_MS = 10 * 60_000
/** Milliseconds after an event went out in which further ones of its type and key join one batch. */
const MINUTE_MS = 60_000
/** Milliseconds over which events of a type and key are counted; a storm tells of itself once in them. */
const STORM_MS = 10 * 60_000
/** Number of the event within STORM_MS from which on the events are a storm. */
const STORM_FROM = 4
/** Milliseconds that a held event waits at most. */
export const LONGEST_HOLD_MS = STORM_MS + MINUTE_MS

/** The reason why an event does not go out at once. */
export interface Hold {
  note: string
  /** The id of the event that stands for this one and counts it. */
  countedBy?: string
  /** Time at which the event itself goes out, unix milliseconds. */
  releaseAt?: number
  isStorm?: boolean
}

/** The part of an event that the rules for holding it need. */
interface Held {
  type: string
  key: string
  payload: Record<string, unknown>
}

/** Decides whether an event goes out later, or not at all; `agents` list it. See CONTRACT, Events of a server. */
export async function findHold(
  tx: Tx,
  event: Held,
  agents: readonly string[],
  now: number,
): Promise<Hold | undefined> {
  const { type, key } = event
  const isTaken = agents.length > 0
  if (LEVEL_EVENTS.some(glob => matchesGlob(glob, type))) {
    const before = await newestOfKind(tx, { type, key, now, within: COOLDOWN_MS })
    // An event that nobody took does not hold this one back from an agent that lists it since.
    if (before && !(before.status === 'ignored' && isTaken)) {
      const until = toIso(before.received_at + COOLDOWN_MS)
      const note = `held behind ${before.id}, which has the same type and key, until ${until}`
      return { note, countedBy: before.id }
    }
  } else if (isTaken) {
    const edge = decideEdge(await recentEvents(tx, { type, key, now, within: STORM_MS }), now)
    if (edge) return edge
  }
  if (!isTaken) return undefined
  const same = await findSameCause(tx, event, agents, { since: now - COOLDOWN_MS, now })
  return same && { note: `held: ${same.type} (${same.id}) told of the same cause already` }
}

/** Decides whether earlier edge events of the same type and key hold this one. */
function decideEdge({ told, oldest }: RecentEvents, now: number): Hold | undefined {
  const waiting = told.filter(each => each.status === 'held')
  const teller = waiting.find(each => each.is_storm === 1)
  if (teller) {
    const note = `held: ${teller.id} counts it, until ${toIso(teller.release_at)}`
    return { note, countedBy: teller.id }
  }
  const [latest] = told
  const minuteEnds = latest ? latest.release_at + MINUTE_MS : now
  const [first] = oldest
  if (first !== undefined && oldest.length + 1 >= STORM_FROM) {
    const begin = told.find(each => each.is_storm === 1)?.release_at ?? first
    const releaseAt = Math.max(begin + STORM_MS, minuteEnds)
    const note = `held until ${toIso(releaseAt)}: from the fourth within ten minutes on they go out as one`
    return { note, releaseAt, isStorm: true }
  }
  const releaseAt = waiting[0]?.release_at ?? minuteEnds
  if (!waiting[0] && now >= minuteEnds) return undefined
  return { note: `held until ${toIso(releaseAt)}: those of one minute go out together`, releaseAt }
}
