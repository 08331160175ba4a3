import fc from 'fast-check'
import type { JsonObject } from '../../../core/forwarding.ts'

/** A schema with a value that fulfils it. */
export interface Example {
  schema: JsonObject
  value: unknown
}

const simple: fc.Arbitrary<Example> = fc.oneof(
  fc.string().map(value => ({ schema: { type: 'string', maxLength: 500, format: 'uri' }, value })),
  fc.stringMatching(/^\d{1,3}$/).map(value => ({ schema: { type: 'string', pattern: '^\\d+$' }, value })),
  fc.integer({ min: 0 }).map(value => ({ schema: { type: 'integer', minimum: 0, multipleOf: 1 }, value })),
  fc.boolean().map(value => ({ schema: { type: 'boolean', description: 'Whether' }, value })),
  fc.constantFrom('', 'a', 'b').map(value => ({ schema: { enum: ['', 'a', 'b'] }, value })),
  fc.constantFrom('a', 1, null).map(value => ({ schema: { enum: ['a', 1, null] }, value })),
  fc
    .constantFrom('a', 1)
    .map(value => ({ schema: { const: value, type: value === 1 ? 'integer' : 'string' }, value })),
  fc.constant('a').map(value => ({ schema: { type: 'boolean', enum: ['true', 'false'] }, value })),
  fc.constantFrom('a', null).map(value => ({ schema: { type: ['string', 'null'] }, value })),
  fc.jsonValue({ maxDepth: 1 }).map(value => ({ schema: {}, value })),
)

/** Names of properties; some are keywords, some are names that Anthropic refuses. */
const name = fc.constantFrom(
  'a',
  'b',
  'format',
  'type',
  'items',
  'properties',
  'required',
  'default',
  '$ref',
  'filter[id]',
)

function objects(inner: fc.Arbitrary<Example>): fc.Arbitrary<Example> {
  return fc
    .uniqueArray(fc.tuple(name, inner, fc.boolean()), { selector: ([key]) => key, maxLength: 4 })
    .map(fields => {
      const properties = Object.fromEntries(fields.map(([key, { schema }]) => [key, schema]))
      const required = fields.filter(([, , isRequired]) => isRequired).map(([key]) => key)
      const value = Object.fromEntries(fields.map(([key, example]) => [key, example.value]))
      return { schema: { type: 'object', properties, required, $comment: 'c' }, value }
    })
}

const { example } = fc.letrec<{ example: Example }>(tie => ({
  example: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 4, arbitrary: simple },
    objects(tie('example')),
    fc.array(tie('example'), { minLength: 1, maxLength: 3 }).map(([first, ...others]) => ({
      schema: { type: 'array', items: { anyOf: [first, ...others].map(each => each?.schema) }, maxItems: 90 },
      value: [first?.value],
    })),
    fc.tuple(tie('example'), tie('example')).map(([one, other]) => ({
      schema: { anyOf: [one.schema, other.schema], title: 'Either' },
      value: other.value,
    })),
    tie('example').map(({ schema, value }) => ({ schema: { allOf: [schema], description: 'All' }, value })),
  ),
}))

const object = objects(example)
const composed = fc.constantFrom('anyOf', 'oneOf', 'allOf')

/** Arguments as servers ask for them: an object, alternatives of objects at the top, and references. */
export const argumentsOf: fc.Arbitrary<Example> = fc.oneof(
  object,
  fc.tuple(object, object, composed).map(([base, other, key]) => ({
    schema: {
      ...base.schema,
      [key]: [
        other.schema,
        ...(key === 'allOf' ? [] : [{ properties: { z: { const: 1 } }, required: ['z'] }]),
      ],
    },
    value: { ...(other.value as object), ...(base.value as object) },
  })),
  fc.tuple(example, fc.constantFrom('$defs', 'definitions')).map(([{ schema, value }, defs]) => ({
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { a: { $ref: `#/${defs}/A` }, tree: { $ref: `#/${defs}/Tree` } },
      [defs]: {
        A: schema,
        Tree: { type: 'object', properties: { of: { type: 'array', items: { $ref: `#/${defs}/Tree` } } } },
      },
    },
    value: { a: value, tree: { of: [{ of: [{ of: [{}] }] }] } },
  })),
)
