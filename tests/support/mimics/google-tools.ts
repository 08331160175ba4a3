import type { GoogleRequest } from './google.ts'
import { type Json, repeated, toList, toObject, toText, unknownKeys } from './json.ts'
import type { Fault, Rule } from './mimic.ts'
import { hasType, objectNodes, type SchemaNode } from './schema.ts'

/** The fields of https://ai.google.dev/api/caching#Schema, the form of `parameters`. */
const FIELDS =
  'type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum'.split(
    ' ',
  )

const FORMATS: Record<string, readonly string[]> = {
  string: ['enum', 'date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
}

/**
 * Returns a path in `parameters` as the parser of Google's protocol writes it: members of maps by their
 * position.
 */
function toPlace(parameters: unknown, path: SchemaNode['path']): string {
  let node: unknown = parameters
  let place = '.parameters'
  for (const [at, key] of path.entries()) {
    const inMap = path[at - 1] === 'properties' && typeof key === 'string'
    if (inMap) place += `[${Object.keys(toObject(node)).indexOf(key)}].value`
    else place += typeof key === 'number' ? `[${key}]` : `.${key === 'anyOf' ? 'any_of' : key}`
    node = typeof key === 'number' ? toList(node)[key] : toObject(node)[key]
  }
  return place
}

/** Yields the schemas of all tools, each with its tool's position and its path. */
function* placed(declarations: readonly Json[]): Iterable<{ schema: Json; place: string; named: string }> {
  for (const [at, { parameters }] of declarations.entries())
    for (const { schema, path } of objectNodes(parameters)) {
      const tool = `tools[0].function_declarations[${at}]`
      const named = path.map(key => (key === 'properties' ? '.properties' : `[${key}]`)).join('')
      yield {
        schema,
        place: `${tool}${toPlace(parameters, path)}`,
        named: `GenerateContentRequest.${tool}.parameters${named}`,
      }
    }
}

const cannotFind = (name: string, place: string): Fault => ({
  message: `Invalid JSON payload received. Unknown name "${name}" at '${place}': Cannot find field.`,
})

/** The rules by which Gemini refuses tool declarations. */
export const googleToolRules: Rule<GoogleRequest>[] = [
  {
    what: 'a keyword in `parameters` that its own schema does not have: `$schema`, `$ref`, `additionalProperties`, `const`, `oneOf`, `allOf`, …',
    source: 'https://github.com/openswarm-ai/openswarm/issues/24',
    *find({ declarations }) {
      for (const { schema, place } of placed(declarations))
        for (const key of unknownKeys(schema, FIELDS)) yield cannotFind(key, place)
    },
  },
  {
    what: 'several types, or `items` as a list, in `parameters`',
    source: 'https://github.com/genspark-ai/genoffice/issues/186',
    *find({ declarations }) {
      for (const { schema, place } of placed(declarations))
        for (const key of ['type', 'items'])
          if (Array.isArray(schema[key]))
            yield {
              message: `Invalid JSON payload received. Unknown name "${key}" at '${place}': Proto field is not repeating, cannot start list.`,
            }
    },
  },
  {
    what: 'values of an `enum` that are no text',
    source: 'https://github.com/microsoft/azure-devops-mcp/issues/139',
    *find({ declarations }) {
      for (const { schema, place } of placed(declarations))
        for (const [at, value] of toList(schema['enum']).entries())
          if (typeof value !== 'string')
            yield { message: `Invalid value at '${place}.enum[${at}]' (TYPE_STRING), ${value}` }
    },
  },
  {
    what: 'an `enum` beside another type than `string`',
    source: 'https://github.com/decolua/9router/issues/359',
    *find({ declarations }) {
      for (const { schema, named } of placed(declarations))
        if ('enum' in schema && schema['type'] !== 'string')
          yield { message: `* ${named}.enum: only allowed for STRING type\n` }
    },
  },
  {
    what: 'a `format` that it does not know',
    source: 'https://ai.google.dev/api/caching#Schema',
    *find({ declarations }) {
      for (const { schema, named } of placed(declarations)) {
        const allowed = FORMATS[toText(schema['type'])] ?? []
        if ('format' in schema && !allowed.includes(toText(schema['format'])))
          yield {
            message: `* ${named}.format: only ${allowed.map(name => `'${name}'`).join(' and ')} are supported for ${toText(schema['type']).toUpperCase()} type\n`,
          }
      }
    },
  },
  {
    what: 'an array in `parameters` without `items`',
    source: 'https://github.com/kkrishnan90/gemini-desktop/pull/7',
    *find({ declarations }) {
      for (const { schema, named } of placed(declarations))
        if (hasType(schema, 'array') && !('items' in schema))
          yield { message: `* ${named}.items: missing field.\n` }
    },
  },
  {
    what: 'an object at the top of `parameters` without properties',
    source: 'https://github.com/pipecat-ai/pipecat-flows/issues/110',
    *find({ declarations }) {
      for (const [at, { parameters }] of declarations.entries())
        if (
          parameters !== undefined &&
          Object.keys(toObject(toObject(parameters)['properties'])).length === 0
        )
          yield {
            message: `* GenerateContentRequest.tools[0].function_declarations[${at}].parameters.properties: should be non-empty for OBJECT type\n`,
          }
    },
  },
  {
    what: 'a required property that is not defined',
    source: 'https://ai.google.dev/api/caching#Schema',
    *find({ declarations }) {
      for (const { schema, named } of placed(declarations))
        for (const [at, name] of toList(schema['required']).entries())
          if (!(toText(name) in toObject(schema['properties'])))
            yield { message: `* ${named}.required[${at}]: property is not defined\n` }
    },
  },
  {
    what: '`anyOf` beside `properties`, `required` or `items`',
    source: 'https://github.com/vercel/ai/pull/19000',
    *find({ declarations }) {
      for (const declaration of declarations)
        for (const { schema, place } of placed([declaration]))
          if ('anyOf' in schema && ['properties', 'required', 'items'].some(key => key in schema))
            yield {
              message: `Unable to submit request because \`${declaration['name']}\` functionDeclaration \`${place.replace(/.*?\.parameters/, 'parameters')}\` schema specified other fields alongside any_of. When using any_of, it must be the only field set.`,
            }
    },
  },
  {
    what: '`$ref` in `parametersJsonSchema` beside anything but `description` and `default`',
    source: 'https://github.com/su-kaka/gcli2api/pull/374',
    *find({ declarations }) {
      for (const [at, { parametersJsonSchema }] of declarations.entries())
        for (const { schema } of objectNodes(parametersJsonSchema))
          if ('$ref' in schema && unknownKeys(schema, ['$ref', '$defs', 'description', 'default']).length > 0)
            yield {
              message: `* GenerateContentRequest.tools[0].function_declarations[${at}].parameters_json_schema: reference must be the only field set besides description and default\n`,
            }
    },
  },
  {
    what: 'a name of a tool that does not begin with a letter or `_`, has other characters than letters, digits, `_`, `.`, `:` and `-`, or over 64',
    source: 'https://github.com/dust-tt/dust/pull/28212',
    *find({ declarations }) {
      for (const [at, { name }] of declarations.entries())
        if (!/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(toText(name)))
          yield {
            message: `* GenerateContentRequest.tools[0].function_declarations[${at}].name: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.\n`,
          }
    },
  },
  {
    what: 'two tools of one name',
    source: 'https://ai.google.dev/gemini-api/docs/function-calling',
    *find({ declarations }) {
      for (const name of repeated(declarations.map(({ name }) => name)))
        yield { message: `Duplicate function declaration found: ${name}` }
    },
  },
]
