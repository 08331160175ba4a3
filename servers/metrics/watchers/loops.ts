import type { Clock } from '../../kit/clock.ts'

/** Milliseconds in which three automatic restarts are a loop; it is over when ten minutes have fewer. */
const SPAN = 10 * 60_000
const MANY = 3

interface Count {
  readonly at: number
  readonly restarts: number
}

/**
 * Creates a detector of containers that restart again and again, by the growth of their restart count from
 * poll to poll. It returns the names of containers in a loop; one that is not given is forgotten. The first
 * poll finds none.
 */
export function createLoops(clock: Clock) {
  let known = new Map<string, readonly Count[]>()
  return (containers: readonly { name: string; restarts: number }[]): ReadonlySet<string> => {
    const now = clock.monotonic()
    known = new Map(
      containers.map(({ name, restarts }) => [name, remember(known.get(name) ?? [], restarts, now)]),
    )
    return new Set([...known].filter(([, counts]) => isLoop(counts)).map(([name]) => name))
  }
}

/** Keeps the counts of the span, and the last one before it; a smaller count belongs to a new container. */
function remember(before: readonly Count[], restarts: number, now: number): readonly Count[] {
  const last = before.at(-1)
  if (last === undefined || restarts < last.restarts) return [{ at: now, restarts }]
  const start = before.findLastIndex(({ at }) => at <= now - SPAN)
  const kept = before.slice(Math.max(0, start))
  return restarts === last.restarts && kept.length > 1 && kept.at(-2)?.restarts === restarts
    ? [...kept.slice(0, -1), { at: now, restarts }]
    : [...kept, { at: now, restarts }]
}

function isLoop(counts: readonly Count[]): boolean {
  const [first, last] = [counts[0], counts.at(-1)]
  return first !== undefined && last !== undefined && last.restarts - first.restarts >= MANY
}
