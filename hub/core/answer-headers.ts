import type { ServerResponse } from 'node:http'

/** Security headers that every HTTP answer of the hub carries for browsers. */
export const ANSWER_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
} as const

/** Sets the headers on a response that other code writes. Writing them with the head costs less. */
export function secure(response: ServerResponse): void {
  for (const [name, value] of Object.entries(ANSWER_HEADERS)) response.setHeader(name, value)
}
