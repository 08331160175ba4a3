import { HubError } from './errors.ts'
import { readFields } from './form-fields.ts'
import { checkNoSecret } from './form-secrets.ts'
import type { JsonObject } from './forwarding.ts'
import { stripControl, truncate } from './text.ts'

/** Method by which a server asks a person. */
export const ELICITATION = 'elicitation/create'

/** Milliseconds that a person has to answer a question, while its server waits. */
export const QUESTION_MS = 5 * 60_000

const LONGEST_MESSAGE = 1_000
const LONGEST_URL = 4_000

/**
 * Returns the params of an `elicitation/create` as people may see them: the message names the server and
 * quotes it. Throws `bad_request` for a form that asks for a secret or breaks the protocol, and for an
 * address that is no page.
 */
export function quoteQuestion(server: string, params: JsonObject): JsonObject {
  const { mode, message, url, requestedSchema } = params
  // Text of others goes on one line, without what could end the quotation.
  const line = stripControl(String(message ?? '')).replace(/\s+/g, ' ')
  const words = truncate(line.replace(/[“”]/g, '"').trim(), LONGEST_MESSAGE)
  const quoted = `the server ${server} asks, in its own words: “${words}”. Never answer with a password or a key`
  if (mode === 'url') return { ...params, message: quoted, url: toPage(url) }
  checkNoSecret(String(message ?? ''), readFields(requestedSchema))
  return { ...params, message: quoted }
}

function toPage(url: unknown): string {
  const page = typeof url === 'string' && url.length <= LONGEST_URL ? URL.parse(url) : null
  if (page?.protocol === 'https:' || page?.protocol === 'http:') return page.href
  throw new HubError('bad_request', 'url: only a page of http or https can be opened')
}
