import type { ServerResponse } from 'node:http'

/** What every answer of the hub says to browsers. */
export const ANSWER_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
} as const

/** For answers that others write. What writes its own head says it there, which costs less. */
export function secure(response: ServerResponse): void {
  for (const [name, value] of Object.entries(ANSWER_HEADERS)) response.setHeader(name, value)
}
