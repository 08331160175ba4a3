import { parseJson } from '../../core/json.ts'

/** Providers and chat templates refuse a whole request for arguments that are no JSON object: they go in as text. */
export function toArguments(text: string): Record<string, unknown> {
  const value = parseJson(text)
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Record<string, unknown>) : { invalid_arguments: text }
}
