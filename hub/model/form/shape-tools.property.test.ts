import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isObject } from '../../core/forwarding.ts'
import type { ModelTool } from '../../core/model.ts'
import type { Form } from './form.ts'
import { mapSchemas } from './schemas.ts'
import { shapeTools } from './shape-tools.ts'
import { ALL_FORMS } from './testing/forms.ts'
import { argumentsOf } from './testing/schemas.ts'

const UNIONS = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', 'if', 'then', 'else']

/** Returns every schema in a schema, itself first. */
function partsOf(schema: unknown): Record<string, unknown>[] {
  const parts = [isObject(schema) ? schema : {}]
  mapSchemas(parts[0] ?? {}, inner => parts.push(...partsOf(inner)))
  return parts
}

function findFaults(schema: Record<string, unknown>, { tools }: Form): string[] {
  const parts = partsOf(schema)
  const has = (key: string) => parts.some(part => part[key] !== undefined)
  const faults = [
    ...UNIONS.filter(key => key in schema).map(key => `${key} at the top`),
    ...['$ref', '$defs', 'oneOf', 'allOf', ...tools.without].filter(has),
    ...(schema['type'] === 'object' && isObject(schema['properties']) ? [] : ['no object at the top']),
    ...parts.flatMap(part =>
      part['type'] === 'array' && !isObject(part['items']) ? ['an array of nothing'] : [],
    ),
  ]
  if (
    tools.largestRepeat !== undefined &&
    parts.some(part => Number(part['maxLength'] ?? part['maxItems'] ?? 0) > 64)
  ) {
    faults.push('a large repeat')
  }
  if (tools.plainArguments) {
    faults.push(
      ...Object.keys(schema['properties'] ?? {}).filter(name => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name)),
    )
  }
  if (!tools.typed) return faults
  const namesOf = ({ type }: Record<string, unknown>) => [type].flat().filter(name => name !== undefined)
  const isBare = (part: Record<string, unknown>) =>
    'anyOf' in part
      ? Object.keys(part).every(key => key === 'anyOf' || key === 'description')
      : part['type'] === 'null' || namesOf(part).filter(name => name !== 'null').length === 1
  return [...faults, ...parts.filter(part => !isBare(part)).map(part => `untyped ${JSON.stringify(part)}`)]
}

const families = ALL_FORMS.filter(({ history }) => history.images === 'none').map((form): [string, Form] => [
  form.family,
  form,
])

describe.each(families)('any tool for %s', (_, form) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false })

  it('says only what the dialect can say, and refuses nothing that the server takes', () => {
    fc.assert(
      fc.property(argumentsOf, fc.string({ maxLength: 3000 }), ({ schema, value }, description) => {
        const given: ModelTool = { name: 'home.set', description, inputSchema: schema }
        const before = JSON.stringify(given)
        const [sent] = shapeTools([given], form.tools, new Set())
        expect(JSON.stringify(given)).toBe(before)
        expect(sent?.description.length).toBeLessThanOrEqual(form.tools.longestDescription)
        expect(findFaults(sent?.inputSchema ?? {}, form)).toEqual([])
        expect(ajv.validateSchema(sent?.inputSchema ?? {})).toBe(true)
        const takes = ajv.compile(sent?.inputSchema ?? {})
        // Gemini's dialect cannot say "any value", so such a value is asked for as a text.
        if (!form.tools.typed && ajv.validate(schema, value))
          expect([takes(value), takes.errors]).toEqual([true, null])
      }),
    )
  })
})
