import type { ChatRequest, ChatTool } from './chat.ts'
import { callsOf } from './chat.ts'
import { isObject, toObject, toText } from './json.ts'
import type { Fault, Rule } from './mimic.ts'
import { objectNodes, resolveRef, schemaNodes } from './schema.ts'

const CONVERTER = 'https://github.com/ggml-org/llama.cpp/blob/master/common/json-schema-to-grammar.cpp'

const notConverted = (why: string): Fault => ({ message: `JSON schema conversion failed:\n${why}` })

/** The fault of the grammar's parser, which names neither the tool nor the keyword. */
const notParsed = (): Fault => ({ message: 'Failed to initialize samplers: failed to parse grammar' })

const TYPES = ['string', 'number', 'integer', 'boolean', 'null', 'object', 'array']

/** Matches escapes that regular expressions have and grammars do not. */
const UNKNOWN_ESCAPE = /\\[dDwWsSbB/]/

/** Characters of schemas that fit into the one grammar of all tools. */
const LARGEST_SCHEMAS = 100_000

/** Keywords whose number is the number of repetitions in the grammar. */
const REPEATS = ['maxLength', 'minLength', 'maxItems', 'minItems']
const MOST_REPEATS = 2_000

function* allNodes(tools: readonly ChatTool[]) {
  for (const { parameters } of tools) for (const { schema } of objectNodes(parameters)) yield schema
}

const patterns = (tools: readonly ChatTool[]) =>
  [...allNodes(tools)].filter(({ pattern }) => pattern !== undefined).map(({ pattern }) => toText(pattern))

/**
 * The rules by which llama.cpp, and all programs built on it, refuse the whole request because of one tool's
 * schema.
 */
export const grammarRules: Rule<ChatRequest>[] = [
  {
    what: 'a `pattern` that does not begin with `^` and end with `$`',
    source: 'https://github.com/ggml-org/llama.cpp/issues/26930',
    *find({ tools }) {
      for (const pattern of patterns(tools))
        if (!(pattern.startsWith('^') && pattern.endsWith('$')))
          yield notConverted("Pattern must start with '^' and end with '$'")
    },
  },
  {
    what: 'a schema that is `true` or `false`',
    source: 'https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/2247',
    *find({ tools }) {
      for (const { parameters } of tools)
        for (const { schema, path } of schemaNodes(parameters))
          if (typeof schema === 'boolean' && path.at(-1) !== 'additionalProperties')
            yield notConverted(`Unrecognized schema: ${schema}`)
    },
  },
  {
    what: 'a type that JSON does not have',
    source: CONVERTER,
    *find({ tools }) {
      for (const schema of allNodes(tools))
        for (const type of [schema['type'] ?? []].flat())
          if (!TYPES.includes(toText(type)))
            yield notConverted(`Unrecognized schema: ${JSON.stringify(schema)}`)
    },
  },
  {
    what: 'a `$ref` that leads nowhere, or out of the schema',
    source: CONVERTER,
    *find({ tools }) {
      for (const { parameters } of tools)
        for (const { schema } of objectNodes(parameters)) {
          const ref = toText(schema['$ref'])
          if (!('$ref' in schema) || ref.startsWith('https://')) continue
          if (!ref.startsWith('#/')) yield notConverted(`Unsupported ref: ${ref}`)
          else if (!isObject(resolveRef(parameters, ref)))
            yield notConverted(`Error resolving ref ${ref}: ${ref.split('/').at(-1)} not in null`)
        }
    },
  },
  {
    what: 'a `pattern` with `\\d`, `\\w`, `\\s`, `\\b`, their opposites or `\\/`',
    source: 'https://github.com/ggml-org/llama.cpp/issues/22314',
    *find({ tools }) {
      if (patterns(tools).some(pattern => UNKNOWN_ESCAPE.test(pattern))) yield notParsed()
    },
  },
  {
    what: 'a `pattern` that looks ahead or behind',
    source: 'https://github.com/codefuturist/email-mcp/issues/58',
    *find({ tools }) {
      if (patterns(tools).some(pattern => /\(\?<?[=!]/.test(pattern))) yield notParsed()
    },
  },
  {
    what: 'a `pattern` with a group that does not capture, as before March 2026',
    source: 'https://github.com/ggml-org/llama.cpp/pull/21124',
    *find({ tools }) {
      if (patterns(tools).some(pattern => pattern.includes('(?:'))) yield notParsed()
    },
  },
  {
    what: '`format` and `propertyNames`',
    source: 'https://github.com/ggml-org/llama.cpp/issues/27580',
    *find({ tools }) {
      for (const schema of allNodes(tools))
        if ('format' in schema || 'propertyNames' in schema) yield notParsed()
    },
  },
  {
    what: '`maxLength`, `maxItems` and their opposites of 2,000 and more',
    source: 'https://github.com/ggml-org/llama.cpp/issues/25746',
    *find({ tools }) {
      for (const schema of allNodes(tools))
        if (REPEATS.some(key => Number(schema[key] ?? 0) >= MOST_REPEATS)) yield notParsed()
    },
  },
  {
    what: 'schemas of all tools over 100,000 characters',
    source: 'https://github.com/ggml-org/llama.cpp/issues/25895',
    *find({ body }) {
      if (JSON.stringify(body['tools'] ?? []).length > LARGEST_SCHEMAS) yield notParsed()
    },
  },
]

/** Returns the rule for arguments in the history, which local servers parse for every call. */
export const brokenArguments = (source: string, say: (error: string) => Fault): Rule<ChatRequest> => ({
  what: 'arguments of a call in the history that are no JSON',
  source,
  *find({ messages }) {
    for (const call of messages.flatMap(callsOf)) {
      const error = parseError(toText(toObject(call['function'])['arguments']))
      if (error !== undefined) yield say(error)
    }
  },
})

function parseError(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return String(error)
  }
}
