type Json = Record<string, unknown>

/** A field of a form that is made from a tool's input schema. What no field can hold is typed as JSON. */
export interface SchemaField {
  name: string
  about: string
  required: boolean
  kind: 'choice' | 'boolean' | 'number' | 'integer' | 'text' | 'json'
  /** The values of a choice as JSON, with what people read. */
  choices: { value: string; title: string }[]
  /** Text that the form begins with. */
  initial: string
}

const KINDS: Record<string, SchemaField['kind']> = {
  boolean: 'boolean',
  number: 'number',
  integer: 'integer',
  string: 'text',
}

/** Returns the fields of a schema's properties, the required ones first. */
export function readSchemaFields(schema: Json): SchemaField[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const fields = Object.entries(isObject(schema['properties']) ? schema['properties'] : {}).map(
    ([name, property]) => toField(name, simplify(property, schema), required.includes(name)),
  )
  return [...fields.filter(one => one.required), ...fields.filter(one => !one.required)]
}

/** Returns the arguments of what was typed into the fields, or what is wrong with each. */
export function toArguments(fields: readonly SchemaField[], typed: Readonly<Record<string, string>>) {
  const args: Json = {}
  const errors: Record<string, string> = {}
  for (const field of fields) {
    const read = readTyped(field, typed[field.name] ?? '')
    if ('error' in read) errors[field.name] = read.error
    else if (read.value !== undefined) args[field.name] = read.value
  }
  return Object.keys(errors).length > 0 ? { errors } : { args }
}

function readTyped({ kind, required }: SchemaField, text: string): { value: unknown } | { error: string } {
  // An empty text is one only where there has to be one.
  if (kind === 'text') return { value: text === '' && !required ? undefined : text }
  if (text.trim() === '')
    return required && kind !== 'boolean' ? { error: 'This is needed.' } : { value: undefined }
  if (kind === 'number' || kind === 'integer') {
    const value = Number(text)
    if (!Number.isFinite(value)) return { error: 'This is no number.' }
    return kind === 'integer' && !Number.isInteger(value) ? { error: 'This is no whole number.' } : { value }
  }
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { error: `This is no JSON (${error instanceof Error ? error.message : String(error)}).` }
  }
}

function toField(name: string, property: Json, required: boolean): SchemaField {
  const { enum: values, const: only, type, default: given, title, description } = property
  const choices = Array.isArray(values) ? values : only === undefined ? [] : [only]
  const kind = choices.length > 0 ? 'choice' : (KINDS[String(type)] ?? 'json')
  const about = [title, description].filter(text => typeof text === 'string' && text !== name).join(': ')
  return {
    name,
    about:
      kind === 'json'
        ? [about, `JSON${type === undefined ? '' : ` (${String(type)})`}`].filter(Boolean).join('. ')
        : about,
    required,
    kind,
    choices: choices.map(value => ({ value: JSON.stringify(value), title: toTitle(value) })),
    initial: given === undefined ? '' : kind === 'text' ? String(given) : JSON.stringify(given),
  }
}

function toTitle(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Resolves a reference within the schema, and leaves out null of what may be null. */
function simplify(property: unknown, schema: Json, depth = 0): Json {
  if (!isObject(property) || depth > 5) return {}
  const { $ref: reference, anyOf, oneOf, type } = property
  if (typeof reference === 'string') {
    const path = reference.replace(/^#\//, '').split('/')
    const found = path.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), schema)
    return { ...simplify(found, schema, depth + 1), ...property }
  }
  const ways = anyOf ?? oneOf
  const real = Array.isArray(ways) ? ways.filter(one => !isObject(one) || one['type'] !== 'null') : []
  if (real.length === 1) return { ...property, ...simplify(real[0], schema, depth + 1) }
  if (!Array.isArray(type)) return property
  const types = type.filter(one => one !== 'null')
  return { ...property, type: types.length === 1 ? types[0] : undefined }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
