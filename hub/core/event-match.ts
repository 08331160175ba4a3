import type { EventListed } from '../../schemas/inbox.ts'
import { matchesGlob } from './glob.ts'

/** Whether an event is what someone waits for: its type fits (globs too), and every field of `match` does. */
export function isWanted(wanted: EventListed, type: string, payload: Record<string, unknown>): boolean {
  if (typeof wanted === 'string') return matchesGlob(wanted, type)
  if (!matchesGlob(wanted.type, type)) return false
  return Object.entries(wanted.match ?? {}).every(([key, expected]) =>
    typeof expected === 'string'
      ? matchesGlob(expected, String(payload[key] ?? ''))
      : payload[key] === expected,
  )
}
