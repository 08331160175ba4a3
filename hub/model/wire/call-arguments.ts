import { parseJson } from '../../core/json.ts'

/**
 * The arguments of a call as a model wrote them; what is no JSON object goes in as text: Ollama and chat templates
 * refuse a whole request for it.
 */
export function toArguments(text: string): Record<string, unknown> {
  const value = parseJson(text)
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Record<string, unknown>) : { invalid_arguments: text }
}

/** The same as JSON; as the model spaced it, where that can be. */
export function toArgumentsText(text: string): string {
  const value = toArguments(text)
  return value['invalid_arguments'] === text ? JSON.stringify(value) : text
}
