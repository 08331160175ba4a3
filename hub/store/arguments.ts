import { hash } from 'node:crypto'
import { parseJson, toCanonicalJson, withoutNul } from '../core/json.ts'

/** Reads the arguments of a call as its model wrote them; undefined if they are not a JSON object. */
export function parseArguments(text: string): Record<string, unknown> | undefined {
  const value = withoutNul(parseJson(text.trim() || '{}'))
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

/** Returns the SHA-256 of the arguments' canonical JSON: equal for equal arguments, however written. */
export function hashArguments(text: string): string {
  const args = parseArguments(text)
  return args ? hashOf(args) : hash('sha256', text)
}

/** Returns the SHA-256 of a call's arguments, which is the same for equal ones. */
export function hashOf(args: unknown): string {
  return hash('sha256', toText(args))
}

/** Returns canonical JSON of what `change` makes of a value; one that is nested too deeply is only named. */
export function toText(value: unknown, change = (given: unknown) => given): string {
  try {
    return toCanonicalJson(change(value))
  } catch (error) {
    if (error instanceof RangeError) return '"nested too deeply"'
    throw error
  }
}
