import { parseJson } from '../../core/json.ts'

/**
 * Reads the arguments of a call as a model wrote them. A text that is no JSON object becomes a field of one,
 * since Ollama and chat templates refuse a whole request for it.
 */
export function toArguments(text: string): Record<string, unknown> {
  const value = parseJson(text)
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Record<string, unknown>) : { invalid_arguments: text }
}

/** Returns the arguments as JSON, spaced as the model did where they are an object. */
export function toArgumentsText(text: string): string {
  const value = toArguments(text)
  return value['invalid_arguments'] === text ? JSON.stringify(value) : text
}
