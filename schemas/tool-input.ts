import { z } from 'zod'

/**
 * Keywords that a server checks and a model need not read. Some model servers refuse requests for a pattern.
 */
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
/** Highest maximum that the schema states: nobody exceeds it by chance, such as for more lines of a list. */
const MOST_BY_CHANCE = 1_000

/**
 * Returns the JSON Schema of a tool's arguments as a model sees it. Every token of it is sent with every
 * request of every agent, so it says which arguments there are, what they mean and how large a number may be.
 * The tool makes the finer checks, and its refusal names what is wrong. `$schema` is left out: 2020-12 is the
 * protocol's default, and validators of old clients stumble over the key.
 */
export function toInputSchema(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io: 'input',
    override({ jsonSchema }) {
      for (const key of CHECKED) delete jsonSchema[key]
      if (jsonSchema.maximum !== undefined && jsonSchema.maximum > MOST_BY_CHANCE) delete jsonSchema.maximum
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
      // An argument that is left out already means no, none or nothing.
      if (!jsonSchema.default || isEmpty(jsonSchema.default)) delete jsonSchema.default
    },
  })
  return json
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
