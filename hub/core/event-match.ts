import type { EventListed } from '../../schemas/inbox.ts'
import { isObject } from './forwarding.ts'
import { matchesGlob } from './glob.ts'

/** Tells whether an event matches: its type fits (globs too), and so does every field of `match`. */
export function isWanted(wanted: EventListed, type: string, payload: Record<string, unknown>): boolean {
  if (typeof wanted === 'string') return matchesGlob(wanted, type)
  if (!matchesGlob(wanted.type, type)) return false
  return Object.entries(wanted.match ?? {}).every(([key, expected]) =>
    valuesAt(payload, key).some(value =>
      typeof expected === 'string' ? matchesGlob(expected, String(value ?? '')) : value === expected,
    ),
  )
}

/**
 * Returns the values at a key: a field of that name, else a path with dots that goes into all elements of a
 * list.
 */
function valuesAt(payload: Record<string, unknown>, key: string): unknown[] {
  if (Object.hasOwn(payload, key)) return [payload[key], ...[payload[key]].flat()]
  let values: unknown[] = [payload]
  for (const name of key.split('.')) {
    values = values
      .flat()
      .map(value => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined))
  }
  return values.flat()
}
