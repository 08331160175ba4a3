import type { ChatTool } from './chat.ts'
import { type Json, toObject } from './json.ts'
import type { Answer, Fault, Rule } from './mimic.ts'
import { hasType, objectNodes } from './schema.ts'

/** Returns OpenAI's form of an error, which most other providers have adopted. */
export const refuseAsOpenAi = ({
  message,
  status = 400,
  type = 'invalid_request_error',
  param = null,
  code = null,
}: Fault): Answer => ({ status, body: { error: { message, type, param, code } } })

export const NO_KEY = {
  header: 'authorization',
  fault: { status: 401, message: "You didn't provide an API key.", code: null },
}

export const tooLong = (param: string, text: string, most: number): Fault => ({
  message: `Invalid '${param}': string too long. Expected a string with maximum length ${most}, but got a string with length ${text.length} instead.`,
  param,
  code: 'string_above_max_length',
})

/** The place of a tool's fields: in `function` for chat completions, in the tool itself for responses. */
interface Place {
  place: '.function' | ''
}

/** The tools in a request of either API. */
interface WithTools {
  body: Json
  tools: ChatTool[]
}

const UNIONS = ['oneOf', 'anyOf', 'allOf', 'enum', 'not']

export const emptyTools: Rule<WithTools> = {
  what: 'an empty list of tools',
  source: 'https://github.com/vllm-project/vllm/pull/39780',
  *find({ body }) {
    if (Array.isArray(body['tools']) && body['tools'].length === 0)
      yield {
        message:
          "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        param: 'tools',
        code: 'empty_array',
      }
  },
}

export const toolNames = ({ place }: Place): Rule<WithTools> => ({
  what: 'a name of a tool with other characters than letters, digits, `_` and `-`, or over 64',
  source: 'https://github.com/xinnan-tech/xiaozhi-esp32-server/issues/1466',
  *find({ tools }) {
    for (const [at, { name }] of tools.entries()) {
      const param = `tools[${at}]${place}.name`
      if (name.length > 64) yield tooLong(param, name, 64)
      if (!/^[a-zA-Z0-9_-]+$/.test(name))
        yield {
          message: `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
          param,
          code: 'invalid_value',
        }
    }
  },
})

/** Returns the rules for schemas and names in both of OpenAI's APIs. */
export const openAiToolRules = ({ place }: Place): Rule<WithTools>[] => [
  emptyTools,
  {
    what: 'more than 128 tools',
    source: 'https://github.com/vishalmysore/Tools4AI/issues/16',
    *find({ tools }) {
      if (tools.length > 128)
        yield {
          message: `Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length ${tools.length} instead.`,
          param: 'tools',
          code: 'array_above_max_length',
        }
    },
  },
  toolNames({ place }),
  {
    what: "a tool's schema that is no object, or a union at its top",
    source: 'https://github.com/nspady/google-calendar-mcp/issues/39',
    *find({ tools }) {
      for (const [at, { name, parameters }] of tools.entries()) {
        const schema = toObject(parameters)
        if (parameters === undefined) continue
        if (schema['type'] === 'object' && !UNIONS.some(key => key in schema)) continue
        const list = UNIONS.map(key => `'${key}'`).join('/')
        yield invalidSchema(
          at,
          `Invalid schema for function '${name}': schema must have type 'object' and not have ${list} at the top level.`,
        )
      }
    },
  },
  {
    what: "a tool's schema without `properties`",
    source: 'https://github.com/Azure/azure-sdk-for-python/issues/41447',
    *find({ tools }) {
      for (const [at, { name, parameters }] of tools.entries())
        if (parameters !== undefined && !('properties' in toObject(parameters)))
          yield invalidSchema(
            at,
            `Invalid schema for function '${name}': In context=(), object schema missing properties.`,
          )
    },
  },
  {
    what: 'an array in a schema without `items`',
    source: 'https://github.com/streamnative/streamnative-mcp-server/issues/26',
    *find({ tools }) {
      for (const [at, { name, parameters }] of tools.entries())
        for (const { schema, path } of objectNodes(parameters))
          if (hasType(schema, 'array') && !('items' in schema)) {
            const context = path.map(key => `'${key}'`).join(', ')
            yield invalidSchema(
              at,
              `Invalid schema for function '${name}': In context=(${context}), array schema missing items.`,
            )
          }
    },
  },
]

const invalidSchema = (at: number, message: string): Fault => ({
  message,
  param: `tools[${at}].function.parameters`,
  code: 'invalid_function_parameters',
})
