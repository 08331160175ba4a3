import { z } from 'zod'

type FieldKind = 'string' | 'number' | 'boolean' | 'list' | 'object'
export type Choice = string | number | boolean

/** One argument of a tool, as far as its JSON Schema says it plainly. */
export interface Field {
  name: string
  kind: FieldKind
  description: string
  required: boolean
  /** The only values that it takes, where the schema lists them. */
  choices: Choice[]
  default?: unknown
  minimum?: number
  maximum?: number
}

const part = z.looseObject({
  type: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .catch(undefined),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  enum: z.array(z.unknown()).optional().catch(undefined),
  const: z.unknown().optional(),
  default: z.unknown().optional(),
  minimum: z.number().optional().catch(undefined),
  maximum: z.number().optional().catch(undefined),
  anyOf: z.array(z.unknown()).optional().catch(undefined),
  oneOf: z.array(z.unknown()).optional().catch(undefined),
})
type Part = z.infer<typeof part>

const objectSchema = z.looseObject({
  properties: z.record(z.string(), z.unknown()).catch({}),
  required: z.array(z.string()).catch([]),
})

/** The arguments that a tool's schema describes; what it says in ways not known here is left out. */
export function readFields(inputSchema: Record<string, unknown>): Field[] {
  const schema = objectSchema.safeParse(inputSchema)
  if (!schema.success) return []
  return Object.entries(schema.data.properties).map(([name, raw]) =>
    readField(name, toPart(raw), schema.data.required.includes(name)),
  )
}

function readField(name: string, own: Part, required: boolean): Field {
  const variants = [...(own.anyOf ?? []), ...(own.oneOf ?? [])].map(toPart)
  const main = variants.find(variant => variant.type !== 'null' && variant.type !== undefined)
  const field: Field = {
    name,
    kind: toKind(own, main),
    description: own.description ?? main?.description ?? own.title ?? '',
    required,
    choices: toChoices(own, variants),
  }
  if (own.default !== undefined) field.default = own.default
  const minimum = own.minimum ?? main?.minimum
  if (minimum !== undefined) field.minimum = minimum
  const maximum = own.maximum ?? main?.maximum
  if (maximum !== undefined) field.maximum = maximum
  return field
}

function toPart(raw: unknown): Part {
  const parsed = part.safeParse(raw)
  return parsed.success ? parsed.data : {}
}

function toKind(own: Part, main: Part | undefined): FieldKind {
  const stated = own.type ?? main?.type
  const type = Array.isArray(stated) ? stated.find(name => name !== 'null') : stated
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'boolean' || type === 'object') return type
  if (type === 'array') return 'list'
  const sample = own.const ?? own.enum?.[0] ?? main?.const
  return typeof sample === 'number' || typeof sample === 'boolean' ? typeOf(sample) : 'string'
}

function typeOf(sample: number | boolean): 'number' | 'boolean' {
  return typeof sample === 'number' ? 'number' : 'boolean'
}

function toChoices(own: Part, variants: Part[]): Choice[] {
  const listed = [own, ...variants].flatMap(
    each => each.enum ?? (each.const === undefined ? [] : [each.const]),
  )
  return listed.filter(isChoice)
}

function isChoice(value: unknown): value is Choice {
  return ['string', 'number', 'boolean'].includes(typeof value)
}
