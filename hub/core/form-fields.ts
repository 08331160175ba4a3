import { z } from 'zod'
import { HubError } from './errors.ts'
import { isObject, type JsonObject } from './forwarding.ts'
import { stripControl, truncate } from './text.ts'

const types = ['string', 'number', 'integer', 'boolean', 'array'] as const

/** A field of a form that a server wants filled in. The protocol allows no other types. */
export const field = z.object({
  name: z.string(),
  type: z.enum(types),
  required: z.boolean(),
  about: z.string(),
  choices: z.array(z.object({ value: z.string(), title: z.string() })).optional(),
  /** Smallest value of a number, length of a text or count of a list; `most` is the largest. */
  least: z.number().optional(),
  most: z.number().optional(),
  format: z.string().optional(),
  default: z.unknown().optional(),
})
export type Field = z.infer<typeof field>

const MOST_FIELDS = 50
const MOST_CHOICES = 200
const LONGEST_ABOUT = 300

/** Reads the fields of a `requestedSchema`. Throws `bad_request` for what a form cannot hold. */
export function readFields(schema: unknown): Field[] {
  const { properties, required } = isObject(schema) ? schema : {}
  const named = Object.entries(isObject(properties) ? properties : {})
  if (named.length > MOST_FIELDS) throw wrong('requestedSchema', `more than ${MOST_FIELDS} fields`)
  const wanted = new Set(Array.isArray(required) ? required : [])
  return named.map(([name, property]) => readField(name, property, wanted.has(name)))
}

function readField(name: string, property: unknown, required: boolean): Field {
  const type = types.find(one => isObject(property) && property['type'] === one)
  if (!isObject(property) || !type)
    throw wrong(name, 'a form has texts, numbers, yes or no, and choices alone')
  const choices = readChoices(type === 'array' ? property['items'] : property)
  if (choices && choices.length > MOST_CHOICES) throw wrong(name, `more than ${MOST_CHOICES} choices`)
  const { least, most } = LIMITS[type]
  return field.parse({
    name,
    type,
    required,
    about: toAbout(property),
    choices,
    least: numberOf(property[least]),
    most: numberOf(property[most]),
    format: typeof property['format'] === 'string' ? property['format'] : undefined,
    default: property['default'],
  })
}

const LIMITS = {
  string: { least: 'minLength', most: 'maxLength' },
  number: { least: 'minimum', most: 'maximum' },
  integer: { least: 'minimum', most: 'maximum' },
  boolean: { least: '', most: '' },
  array: { least: 'minItems', most: 'maxItems' },
} as const

/** Reads the choices of a field; those with titles come in three notations. */
function readChoices(from: unknown): Field['choices'] {
  if (!isObject(from)) return undefined
  const titled = from['oneOf'] ?? from['anyOf']
  if (Array.isArray(titled)) {
    return titled.filter(isObject).map(({ const: value, title }) => {
      return { value: String(value), title: clean(title ?? value) }
    })
  }
  const { enum: values, enumNames: names } = from
  if (!Array.isArray(values)) return undefined
  const titles: unknown[] = Array.isArray(names) ? names : []
  return values.map((value, index) => ({ value: String(value), title: clean(titles[index] ?? value) }))
}

/** Describes a field to a person: "integer from 1 to 65535, required. Port: where it listens". */
export function describeField({ type, required, about, choices, least, most, ...one }: Field): string {
  const titles = choices?.map(({ value, title }) => (title === value ? value : `${value} (${title})`))
  const kind = titles ? `${type === 'array' ? 'any of' : 'one of'} ${titles.join(', ')}` : NAMES[type]
  const facts = [
    `${kind}${one.format === undefined ? '' : ` (${clean(one.format)})`}${toRange(type, least, most)}`,
    ...(one.default === undefined ? [] : [`default ${clean(JSON.stringify(one.default))}`]),
    ...(required ? ['required'] : []),
  ]
  return about === '' ? facts.join(', ') : `${facts.join(', ')}. ${about}`
}

const NAMES = { string: 'text', number: 'number', integer: 'integer', boolean: 'yes or no', array: 'list' }

function toRange(type: Field['type'], least: number | undefined, most: number | undefined): string {
  if (least === undefined && most === undefined) return ''
  const range =
    most === undefined
      ? `at least ${least}`
      : least === undefined
        ? `at most ${most}`
        : `from ${least} to ${most}`
  if (type === 'string') return ` of ${range} characters`
  return type === 'array' ? ` (${range})` : ` ${range}`
}

function toAbout({ title, description }: JsonObject): string {
  return [title, description].flatMap(text => (typeof text === 'string' ? clean(text) : [])).join(': ')
}

function clean(text: unknown): string {
  return truncate(stripControl(String(text)).replace(/\s+/g, ' ').trim(), LONGEST_ABOUT)
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function wrong(name: string, what: string): HubError {
  return new HubError('bad_request', `${clean(name)}: ${what}`)
}

/** Returns what is wrong with a size: a number's value, a text's length or a list's count. */
export function checkRange({ type, least, most }: Field, size: number): string | undefined {
  if ((least === undefined || size >= least) && (most === undefined || size <= most)) return undefined
  return `must be ${NAMES[type]}${toRange(type, least, most)}`
}
