import { fromIso } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'
import { checkRange, describeField, type Field } from '../../core/form-fields.ts'
import { isObject, type JsonObject } from '../../core/forwarding.ts'
import { parseJson } from '../../core/json.ts'
import { toPattern } from '../../core/text.ts'

/**
 * Returns the content of a form from the note beside a yes: a JSON object, `field: value` in lines or after
 * semicolons, or the value alone if the form has one field. A field that the note leaves out has its default.
 * Throws `invalid_arguments` with what is wanted if that is not enough.
 */
export function fillForm(fields: readonly Field[], note = ''): JsonObject {
  const given = readNote(fields, note.trim())
  const content: JsonObject = {}
  const problems: string[] = []
  for (const field of fields) {
    const value = Object.hasOwn(given, field.name) ? given[field.name] : undefined
    const read = value === undefined ? fallBack(field) : readValue(field, value)
    if ('problem' in read) problems.push(`${field.name}: ${read.problem}`)
    else if (read.value !== undefined) content[field.name] = read.value
  }
  for (const name of Object.keys(given))
    if (!fields.some(field => field.name === name)) problems.push(`there is no field ${name}`)
  if (problems.length === 0) return content
  const wanted = fields.map(field => `${field.name}: ${describeField(field)}`).join('; ')
  throw new HubError(
    'invalid_arguments',
    `The note does not answer the question (${problems.join('; ')}), so it stays open. Give the values as the note, as "field: value; field: value" or a JSON object. Wanted is ${wanted}`,
  )
}

type Read = { value: unknown } | { problem: string }

function fallBack({ default: value, required }: Field): Read {
  return value === undefined && required ? { problem: 'missing' } : { value }
}

function readNote(fields: readonly Field[], note: string): JsonObject {
  if (note === '' || fields.length === 0) return {}
  if (note.startsWith('{')) {
    const parsed = parseJson(note)
    if (isObject(parsed)) return parsed
  }
  const named = readNamed(fields, note)
  if (named) return named
  const needed = fields.filter(field => field.required && field.default === undefined)
  const only = fields.length === 1 ? fields[0] : needed.length === 1 ? needed[0] : undefined
  if (only) return { [only.name]: note }
  throw new HubError(
    'invalid_arguments',
    `The note does not say which field it is for, so the question stays open. Write "field: value", with ${fields.map(field => field.name).join(', ')}`,
  )
}

/** Reads `field: value` parts; undefined if the note does not begin with one. */
function readNamed(fields: readonly Field[], note: string): JsonObject | undefined {
  const names = fields.map(({ name }) => toPattern(name)).join('|')
  const starts = [...note.matchAll(new RegExp(`(?:^|[;\\n])\\s*(${names})\\s*[:=]`, 'g'))]
  if (starts[0]?.index !== 0) return undefined
  return Object.fromEntries(
    starts.map((start, place) => {
      const end = starts[place + 1]?.index ?? note.length
      return [start[1], note.slice(start.index + start[0].length, end).trim()]
    }),
  )
}

function readValue(field: Field, given: unknown): Read {
  switch (field.type) {
    case 'array':
      return readList(field, given)
    case 'boolean':
      return readFlag(given)
    case 'integer':
    case 'number':
      return readNumber(field, given)
    case 'string':
      return readText(field, given)
    default:
      return field.type satisfies never
  }
}

const FLAGS: Record<string, boolean> = {
  yes: true,
  true: true,
  on: true,
  no: false,
  false: false,
  off: false,
}

function readFlag(given: unknown): Read {
  const value = FLAGS[String(given).toLowerCase()]
  return value === undefined ? { problem: 'is yes or no' } : { value }
}

function readNumber(field: Field, given: unknown): Read {
  const value = typeof given === 'string' && given !== '' ? Number(given) : given
  if (typeof value !== 'number' || !Number.isFinite(value)) return { problem: 'is no number' }
  if (field.type === 'integer' && !Number.isInteger(value)) return { problem: 'is no whole number' }
  return within(field, value, value)
}

function readText(field: Field, given: unknown): Read {
  if (typeof given !== 'string') return { problem: 'is no text' }
  const value = field.choices ? findChoice(field, given) : given
  if (value === undefined) return { problem: 'is none of the choices' }
  const isRight = FORMATS[field.format ?? '']
  if (isRight && !isRight(value)) return { problem: `is no ${field.format}` }
  return within(field, value, [...value].length)
}

const FORMATS: Record<string, (text: string) => boolean> = {
  email: text => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: text => URL.canParse(text),
  date: text => /^\d{4}-\d{2}-\d{2}$/.test(text) && fromIso(text) !== undefined,
  'date-time': text => /^\d{4}-\d{2}-\d{2}T/.test(text) && fromIso(text) !== undefined,
}

function readList(field: Field, given: unknown): Read {
  const listed: unknown[] = Array.isArray(given)
    ? given
    : String(given)
        .split(',')
        .map(part => part.trim())
  const values = listed.map(one => (field.choices ? findChoice(field, String(one)) : String(one)))
  if (values.includes(undefined)) return { problem: 'is none of the choices' }
  return within(field, values, values.length)
}

function within(field: Field, value: unknown, size: number): Read {
  const problem = checkRange(field, size)
  return problem === undefined ? { value } : { problem }
}

/** Finds a choice by its value or its title. */
function findChoice({ choices = [] }: Field, given: string): string | undefined {
  const meant = given.toLowerCase()
  const exact = choices.find(({ value }) => value === given)
  const found =
    exact ?? choices.find(one => [one.value, one.title].some(text => text.toLowerCase() === meant))
  return found?.value
}
