import { HubError } from '../../core/errors.ts'
import { parseJson, withoutNul } from '../../core/json.ts'

/**
 * Returns the fields of a JSON object or of a form; other JSON comes under `body`, other text under `text`.
 * Throws `bad_request` for anything else.
 */
export function readBody(contentType: string | undefined, bytes: Buffer): Record<string, unknown> {
  return withoutNul(readFields(contentType, bytes))
}

function readFields(contentType: string | undefined, bytes: Buffer): Record<string, unknown> {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (bytes.length === 0) return {}
  const text = decode(bytes)
  if (type === 'application/x-www-form-urlencoded') return fromForm(text)
  const isJson = type === 'application/json' || type.endsWith('+json')
  if (!isJson && type !== '' && !type.startsWith('text/')) {
    throw new HubError('bad_request', `A webhook's Content-Type is ${type}; send JSON, a form or text`)
  }
  const value = parseJson(text)
  if (value !== undefined) return toFields(value, isJson ? undefined : text)
  if (isJson) throw new HubError('bad_request', "A webhook's body is not the JSON that its Content-Type says")
  return { text }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw new HubError('bad_request', "A webhook's body is not UTF-8", { cause: error })
  }
}

/** Returns the fields of JSON. Some senders declare it as text; a number or a word then stays text. */
function toFields(value: unknown, text: string | undefined): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return text === undefined ? { body: value } : { text }
  return Array.isArray(value) ? { body: value } : { ...value }
}

/** Reads a form. A repeated field is a list; the JSON of a lone `payload` (Slack, GitHub) is the body. */
function fromForm(text: string): Record<string, unknown> {
  const form = new URLSearchParams(text)
  const names = [...new Set(form.keys())]
  const payload =
    names.length === 1 && names[0] === 'payload' ? parseJson(form.get('payload') ?? '') : undefined
  if (payload !== undefined) return toFields(payload, undefined)
  return Object.fromEntries(
    names.map(name => {
      const values = form.getAll(name)
      return [name, values.length === 1 ? values[0] : values]
    }),
  )
}
