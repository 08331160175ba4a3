import { toSchema } from './chat-requests.ts'
import { testChecks } from './check-table.ts'
import { checkGoogle, googleRules } from './google.ts'

const user = { role: 'user', parts: [{ text: 'Hi' }] }
const model = { role: 'model', parts: [{ text: 'Yes' }] }
const call = (thoughtSignature?: string) => ({
  functionCall: { name: 'get_time', args: {} },
  ...(thoughtSignature === undefined ? {} : { thoughtSignature }),
})
const result = { functionResponse: { name: 'get_time', response: { content: 'noon' } } }
const calls = (...parts: object[]) => ({ role: 'model', parts })
const results = (...parts: object[]) => ({ role: 'user', parts })
const of = (...contents: object[]) => ({ contents: [user, ...contents] })
const tools = (...declarations: object[]) => ({ tools: [{ functionDeclarations: declarations }] })
const tool = (more: object = {}) => ({
  name: 'get_time',
  description: 'The time',
  parameters: toSchema({ type: 'string' }),
  ...more,
})
const property = (schema: unknown) => tools(tool({ parameters: toSchema(schema) }))
const KEYWORD =
  'a keyword in `parameters` that its own schema does not have: `$schema`, `$ref`, `additionalProperties`, `const`, `oneOf`, `allOf`, …'
const COUNT = 'another number of results than of calls'
const SIGNATURE =
  'a call of the current turn without the signature of its thoughts (the first of parallel ones; Gemini 3 and later)'
const NAME =
  'a name of a tool that does not begin with a letter or `_`, has other characters than letters, digits, `_`, `.`, `:` and `-`, or over 64'

const recursive = {
  type: 'object',
  properties: { child: { $ref: '#/$defs/node' } },
  $defs: { node: { type: 'object', properties: { child: { $ref: '#/$defs/node' } } } },
}

testChecks('google', {
  check: checkGoogle,
  rules: googleRules,
  issued: new Map([['EpEg1', '']]),
  good: {
    'a minimal request': { contents: [user], generationConfig: { maxOutputTokens: 100 } },
    'parallel calls and their results, of an earlier turn without signatures': {
      systemInstruction: { parts: [{ text: 'Help.' }] },
      ...tools(
        tool(),
        tool({ name: 'stop', parameters: undefined }),
        tool({ name: 'walk', parameters: undefined, parametersJsonSchema: recursive }),
      ),
      ...of(
        calls(call()),
        results(result),
        model,
        user,
        calls(call('EpEg1'), call()),
        results(result, result),
        calls(call('skip_thought_signature_validator')),
        results(result),
        results({ text: 'Hurry.' }),
      ),
    },
  },
  bad: [
    { what: KEYWORD, body: property({ type: 'string', const: 'a' }), says: 'Unknown name "const" at' },
    {
      what: KEYWORD,
      body: tools(tool({ parameters: toSchema({ type: 'string' }, { additionalProperties: false }) })),
      says: `Unknown name "additionalProperties" at 'tools[0].function_declarations[0].parameters': Cannot find field.`,
    },
    {
      what: KEYWORD,
      body: property({ anyOf: [{ type: 'string' }, { type: 'number', exclusiveMinimum: 0 }] }),
      says: `'tools[0].function_declarations[0].parameters.properties[0].value.any_of[1]'`,
    },
    {
      what: 'several types, or `items` as a list, in `parameters`',
      body: property({ type: ['string', 'null'] }),
      says: 'Proto field is not repeating, cannot start list.',
    },
    {
      what: 'values of an `enum` that are no text',
      body: property({ type: 'string', enum: [1] }),
      says: ".value.enum[0]' (TYPE_STRING), 1",
    },
    {
      what: 'an `enum` beside another type than `string`',
      body: property({ type: 'integer', enum: ['1'] }),
      says: 'parameters.properties[at].enum: only allowed for STRING type',
    },
    {
      what: 'a `format` that it does not know',
      body: property({ type: 'string', format: 'uri' }),
      says: "format: only 'enum' and 'date-time' are supported for STRING type",
    },
    {
      what: 'an array in `parameters` without `items`',
      body: property({ type: 'array' }),
      says: 'parameters.properties[at].items: missing field',
    },
    {
      what: 'an object at the top of `parameters` without properties',
      body: tools(tool({ parameters: { type: 'object' } })),
      says: 'parameters.properties: should be non-empty for OBJECT type',
    },
    {
      what: 'a required property that is not defined',
      body: tools(tool({ parameters: toSchema({ type: 'string' }, { required: ['to'] }) })),
      says: 'parameters.required[0]: property is not defined',
    },
    {
      what: '`anyOf` beside `properties`, `required` or `items`',
      body: property({ anyOf: [{ type: 'string' }, { type: 'number' }], properties: {} }),
      says: 'schema specified other fields alongside any_of',
    },
    {
      what: '`$ref` in `parametersJsonSchema` beside anything but `description` and `default`',
      body: tools(tool({ parametersJsonSchema: toSchema({ $ref: '#', type: 'object' }) })),
      says: 'reference must be the only field set',
    },
    {
      what: NAME,
      body: tools(tool({ name: '1password' })),
      says: 'Must start with a letter or an underscore',
    },
    { what: NAME, body: tools(tool({ name: 'a'.repeat(65) })), says: 'with a maximum length of 64' },
    {
      what: 'two tools of one name',
      body: tools(tool(), tool()),
      says: 'Duplicate function declaration found: get_time',
    },
    {
      what: 'a field that it does not know',
      body: { max_tokens: 1 },
      says: 'Unknown name "max_tokens": Cannot find field.',
    },
    { what: 'no content', body: { contents: [] }, says: 'contents is not specified' },
    {
      what: 'a role other than `user` and `model`',
      body: of({ ...model, role: 'assistant' }, user),
      says: 'Please use a valid role: user, model.',
    },
    {
      what: 'content without parts',
      body: of(calls(), user),
      says: 'contents[1].parts: contents.parts must not be empty',
    },
    {
      what: 'a part without anything in it',
      body: of(calls({ text: '' }), user),
      says: "contents[1].parts[0].data: required oneof field 'data' must have one initialized field",
    },
    { what: 'a last message of the model', body: of(model), says: 'end with a user role' },
    {
      what: "a call that follows neither the user's message nor a result",
      body: of(model, calls(call('EpEg1')), results(result)),
      says: 'function call turn comes immediately after a user turn',
    },
    {
      what: 'a result that does not follow its call',
      body: of(model, results(result)),
      says: 'function response turn comes immediately after a function call turn',
    },
    {
      what: COUNT,
      body: of(calls(call('EpEg1'), call()), results(result)),
      says: 'number of function response parts is equal',
    },
    { what: COUNT, body: of(calls(call('EpEg1')), user), says: 'number of function response parts is equal' },
    {
      what: 'something else in the message with the results',
      body: of(calls(call('EpEg1')), results(result, { text: 'Hurry.' })),
      says: 'number of function response parts is equal',
    },
    {
      what: SIGNATURE,
      body: of(calls(call()), results(result)),
      says: 'function call `default_api:get_time` , position 2.',
    },
    {
      what: SIGNATURE,
      body: of(calls(call('EpEg1')), results(result), calls(call()), results(result)),
      says: 'Function call is missing a thought_signature in functionCall parts.',
    },
    {
      what: 'a signature that it did not make',
      body: of(calls(call('mine')), results(result)),
      says: 'Corrupted thought signature.',
    },
  ],
})
