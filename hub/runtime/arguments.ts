import { hash } from 'node:crypto'
import { parseJson, toCanonicalJson } from '../core/json.ts'

/** The arguments of a call as its model wrote them; undefined where they are not a JSON object. */
export function parseArguments(text: string): Record<string, unknown> | undefined {
  const value = parseJson(text.trim() || '{}')
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

/** Equal for equal arguments, however they are written: SHA-256 of their canonical JSON. */
export function hashArguments(text: string): string {
  const args = parseArguments(text)
  return hash('sha256', args ? toCanonicalJson(args) : text)
}
