import { cleanText } from '../text.ts'

const MAX_REASON = 200
const KEYS = [
  'errorMessage',
  'message',
  'error',
  'detail',
  'description',
  'title',
  'errors',
  'result',
  'reason',
]

/**
 * Finds the upstream's reason for a refusal: a message in a JSON body, a short text, or '' for pages and
 * empty bodies.
 */
export function findReason(body: string): string {
  const text = body.trim()
  if (text === '' || looksLikePage(text)) return ''
  try {
    return cleanText(fromJson(JSON.parse(text), 0), MAX_REASON)
  } catch (error) {
    if (error instanceof SyntaxError) return cleanText(text, MAX_REASON)
    throw error
  }
}

/** Tells whether a text is HTML or XML. */
export function looksLikePage(text: string): boolean {
  return /^\s*</.test(text)
}

function fromJson(value: unknown, depth: number): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null || depth > 3) return ''
  if (Array.isArray(value)) {
    const parts = value.slice(0, 3).map(part => fromJson(part, depth + 1))
    return parts.filter(part => part !== '').join('; ')
  }
  const fields = new Map(Object.entries(value))
  for (const key of KEYS) {
    const found = fromJson(fields.get(key), depth + 1)
    if (found !== '') return found
  }
  return depth > 0 ? fromJson([...fields.values()], depth + 1) : ''
}
