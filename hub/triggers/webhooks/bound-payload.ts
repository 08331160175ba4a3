import { stripControl, truncate } from '../../core/text.ts'

/** Characters of JSON that an event may have: an agent reads it whole. */
const MOST_JSON = 16 * 1024
const MOST_DEPTH = 12
const LONGEST_KEY = 200

interface Bounds {
  /** Characters of a text. */
  text: number
  /** Entries of a list or an object. */
  entries: number
}

/** Bounds that are tried in order until the whole is short enough. */
const BOUNDS: readonly Bounds[] = [
  { text: 8_000, entries: 500 },
  { text: 1_000, entries: 50 },
  { text: 200, entries: 20 },
  { text: 100, entries: 8 },
]

/** Returns the payload without control characters; parts that are too long or deep are cut, and say so. */
export function boundPayload(payload: Record<string, unknown>): Record<string, unknown> {
  let json = ''
  for (const bounds of BOUNDS) {
    const bounded = cutFields(payload, bounds, 0)
    json = JSON.stringify(bounded)
    if (json.length <= MOST_JSON) return bounded
  }
  return { excerpt: truncate(json, MOST_JSON / 4) }
}

function cutFields(fields: object, bounds: Bounds, depth: number): Record<string, unknown> {
  const all = Object.entries(fields)
  const kept = all
    .slice(0, bounds.entries)
    .map(([key, value]) => [truncate(stripControl(key), LONGEST_KEY), cut(value, bounds, depth + 1)] as const)
  const more = all.length - kept.length
  return Object.fromEntries(more > 0 ? [...kept, ['…', `${more} more`] as const] : kept)
}

function cut(value: unknown, bounds: Bounds, depth: number): unknown {
  if (typeof value === 'string') return truncate(stripControl(value), bounds.text)
  if (typeof value !== 'object' || value === null) return value
  if (depth > MOST_DEPTH) return '… (too deep)'
  if (!Array.isArray(value)) return cutFields(value, bounds, depth)
  const kept = value.slice(0, bounds.entries).map(inner => cut(inner, bounds, depth + 1))
  const more = value.length - kept.length
  return more > 0 ? [...kept, `… (${more} more)`] : kept
}
