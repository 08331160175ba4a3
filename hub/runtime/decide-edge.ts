import type { RecentEvents } from '../store/event-releases.ts'

/** Milliseconds after an event went out in which further ones of its type and key join one batch. */
export const MINUTE_MS = 60_000
/** Milliseconds over which events of a type and key are counted; a storm tells of itself once in them. */
export const STORM_MS = 10 * 60_000
/** Number of the event within STORM_MS from which on the events are a storm. */
const STORM_FROM = 4

/** Milliseconds that a held event waits at most. */
export const LONGEST_RELEASE_MS = STORM_MS + MINUTE_MS

/** The way in which an edge event goes out. */
export type EdgeRoute =
  | { kind: 'now' }
  /** The event goes out with the others of its minute. */
  | { kind: 'minute'; at: number }
  /** The event goes out as the one that tells of its storm. */
  | { kind: 'storm'; at: number }
  /** The event is counted by the one that tells of the storm. */
  | { kind: 'counted'; at: number; behind: string }

/** Decides the route of an event by earlier ones of its type and key; see CONTRACT, Events of a server. */
export function decideEdge({ told, oldest }: RecentEvents, now: number): EdgeRoute {
  const waiting = told.filter(each => each.status === 'held')
  const teller = waiting.find(each => each.is_storm === 1)
  if (teller) return { kind: 'counted', at: teller.release_at, behind: teller.id }
  const [latest] = told
  const minuteEnds = latest ? latest.release_at + MINUTE_MS : now
  const [first] = oldest
  if (first !== undefined && oldest.length + 1 >= STORM_FROM) {
    const begin = told.find(each => each.is_storm === 1)?.release_at ?? first
    return { kind: 'storm', at: Math.max(begin + STORM_MS, minuteEnds) }
  }
  const [next] = waiting
  if (next) return { kind: 'minute', at: next.release_at }
  return now < minuteEnds ? { kind: 'minute', at: minuteEnds } : { kind: 'now' }
}
