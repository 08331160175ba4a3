import { z } from 'zod'
import { HubError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/forwarding.ts'
import { stripControl, truncate } from '../../core/text.ts'
import { describeField, type Field, field, readFields } from './fields.ts'
import { fillForm } from './fill-form.ts'
import { checkNoSecret } from './secrets.ts'

/** What a server asks a person. */
export interface Question {
  /** Why people see it: the server's words, marked as such. */
  reason: string
  /** What people see of it besides. */
  shown: JsonObject
  /** Undefined where a page is to be opened, and nothing to be told. */
  fields: Field[] | undefined
  /** As the store keeps it. */
  json: string
}

const stored = z.object({ fields: z.array(field).optional() })

const LONGEST_MESSAGE = 1_000
const LONGEST_URL = 4_000

/** Reads the params of an `elicitation/create`. Throws what is wrong with them. */
export function toQuestion(server: string, params: JsonObject): Question {
  const { mode, message, url, requestedSchema } = params
  const reason = `the server ${server} asks, in its own words: “${clean(message)}”. Never answer with a password or a key`
  if (mode === 'url') {
    const shown = { opens: toPage(url) }
    return { reason, shown, fields: undefined, json: JSON.stringify({}) }
  }
  const fields = readFields(requestedSchema)
  checkNoSecret(String(message ?? ''), fields)
  const shown = Object.fromEntries(fields.map(one => [one.name, describeField(one)]))
  return { reason, shown: { wants: shown }, fields, json: JSON.stringify({ fields }) }
}

/** The answer of a person who said yes. */
export function toAnswer({ fields }: Pick<Question, 'fields'>, note: string | undefined): JsonObject {
  return fields ? { action: 'accept', content: fillForm(fields, note) } : { action: 'accept' }
}

/** Throws `invalid_arguments` with what is wanted where a note does not answer a stored question. */
export function checkNote(json: string, note: string | undefined): void {
  toAnswer({ fields: stored.parse(JSON.parse(json)).fields }, note)
}

/** Words of others on one line; nothing in them ends the quotation. */
function clean(text: unknown): string {
  const line = stripControl(String(text ?? '')).replace(/\s+/g, ' ')
  return truncate(line.replace(/[“”]/g, '"').trim(), LONGEST_MESSAGE)
}

function toPage(url: unknown): string {
  const page = typeof url === 'string' && url.length <= LONGEST_URL ? URL.parse(url) : null
  if (page?.protocol === 'https:' || page?.protocol === 'http:') return page.href
  throw new HubError('bad_request', 'url: only a page of http or https can be opened')
}
