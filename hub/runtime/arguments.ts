import { hash } from 'node:crypto'
import { parseJson, withoutNul } from '../core/json.ts'
import { hashOf } from '../store/audit-log.ts'

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
