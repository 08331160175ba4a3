import { z } from 'zod'
import { describeField, type Field, field, readFields } from '../../core/form-fields.ts'
import type { JsonObject } from '../../core/forwarding.ts'
import { fillForm } from './fill-form.ts'

/** A question of a server to a person. */
export interface Question {
  /** The reason that people see: the server's words, marked as such. */
  reason: string
  /** Content of the question that people see besides the reason. */
  shown: JsonObject
  /** The form's fields; undefined if a page is to be opened and nothing to be told. */
  fields: Field[] | undefined
  /** The question as the store keeps it. */
  json: string
}

const stored = z.object({ fields: z.array(field).optional() })

/** Reads the params of an `elicitation/create`, which are quoted and checked by `quoteQuestion`. */
export function toQuestion({ mode, message, url, requestedSchema }: JsonObject): Question {
  const reason = String(message)
  if (mode === 'url') return { reason, shown: { opens: url }, fields: undefined, json: JSON.stringify({}) }
  const fields = readFields(requestedSchema)
  const shown = Object.fromEntries(fields.map(one => [one.name, describeField(one)]))
  return { reason, shown: { wants: shown }, fields, json: JSON.stringify({ fields }) }
}

/** Returns the answer of a person who said yes. */
export function toAnswer({ fields }: Pick<Question, 'fields'>, note: string | undefined): JsonObject {
  return fields ? { action: 'accept', content: fillForm(fields, note) } : { action: 'accept' }
}

/** Throws `invalid_arguments` with what is wanted if a note does not answer a stored question. */
export function checkNote(json: string, note: string | undefined): void {
  toAnswer({ fields: stored.parse(JSON.parse(json)).fields }, note)
}
