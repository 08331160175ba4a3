import { z } from 'zod'

/** What a server checks and a model need not read. Some model servers refuse a whole request for a pattern. */
const CHECKED = [
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'propertyNames',
  'minItems',
  'maxItems',
  'minimum',
  'exclusiveMinimum',
] as const
/** Nobody asks for more than this by chance, such as for more lines of a list. */
const MOST_BY_CHANCE = 1_000

/**
 * The JSON Schema of a tool's arguments as a model is told of it. Every token of it is sent with every request of every
 * agent, so it says which arguments there are, what they mean and how large a number may be; the finer checks are made
 * by the tool, whose refusal names what is wrong. Without `$schema`: 2020-12 is the protocol's default, and validators
 * of old clients stumble over the key.
 */
export function toInputSchema(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io: 'input',
    override({ jsonSchema }) {
      for (const key of CHECKED) delete jsonSchema[key]
      if (jsonSchema.maximum !== undefined && jsonSchema.maximum > MOST_BY_CHANCE) delete jsonSchema.maximum
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
      // What is left out is no, none or nothing.
      if (!jsonSchema.default || isEmpty(jsonSchema.default)) delete jsonSchema.default
    },
  })
  return json
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
