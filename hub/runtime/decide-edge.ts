import type { RecentEvents } from '../store/event-releases.ts'

/** Further events of a type and key join one batch for so long after one that went out. */
export const MINUTE_MS = 60_000
/** Events of a type and key are counted over so long, and a storm tells of itself once in it. */
export const STORM_MS = 10 * 60_000
/** From this one within STORM_MS on they are a storm. */
const STORM_FROM = 4

/** No held event waits for longer than this. */
export const LONGEST_RELEASE_MS = STORM_MS + MINUTE_MS

/** When an event of an edge goes out. */
export type EdgeRoute =
  | { kind: 'now' }
  /** With the others of its minute. */
  | { kind: 'minute'; at: number }
  /** As the one that tells of its storm. */
  | { kind: 'storm'; at: number }
  /** Counted by the one that tells of the storm. */
  | { kind: 'counted'; at: number; behind: string }

/** Decides it by what came before of the same type and key; see CONTRACT, Events of a server. */
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
