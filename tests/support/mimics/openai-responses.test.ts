import { toSchema } from './chat-requests.ts'
import { testChecks } from './check-table.ts'
import { checkOpenAiResponses, openAiResponsesRules } from './openai-responses.ts'

const user = { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }
const said = { role: 'assistant', content: [{ type: 'output_text', text: 'Yes' }] }
const call = { type: 'function_call', call_id: 'call_1', name: 'get_time', arguments: '{}' }
const output = { type: 'function_call_output', call_id: 'call_1', output: 'noon' }
const reasoning = { type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAAAAB1', summary: [] }
const tool = (more: object = {}) => ({
  type: 'function',
  name: 'get_time',
  description: 'The time',
  parameters: toSchema({ type: 'string' }),
  ...more,
})
const of = (...items: object[]) => ({ input: [user, ...items] })
const many = Array.from({ length: 129 }, (_, at) => tool({ name: `tool_${at}` }))

testChecks('openai-responses', {
  check: checkOpenAiResponses,
  rules: openAiResponsesRules,
  issued: new Map([
    ['gAAAAAB1', 'rs_1'],
    ['fc_1', 'rs_1'],
  ]),
  good: {
    'a minimal request': { model: 'gpt-5.6', input: [user], stream: true, store: false },
    'reasoning, a call and its result': {
      model: 'gpt-5.6',
      ...of(reasoning, { ...call, id: 'fc_1' }, output, said, user),
      tools: [tool()],
      reasoning: { effort: 'low' },
      include: ['reasoning.encrypted_content'],
    },
  },
  bad: [
    {
      what: 'a parameter that it does not know',
      body: { max_tokens: 1 },
      says: "Unknown parameter: 'max_tokens'.",
    },
    { what: 'a `temperature`', body: { temperature: 1 }, says: "'temperature' is not supported" },
    { what: 'no input', body: { input: [] }, says: 'must be provided' },
    { what: 'an empty list of tools', body: { tools: [] }, says: "Invalid 'tools': empty array" },
    { what: 'more than 128 tools', body: { tools: many }, says: 'maximum length 128' },
    {
      what: 'a name of a tool with other characters than letters, digits, `_` and `-`, or over 64',
      body: { tools: [tool({ name: 'a.b' })] },
      says: "Invalid 'tools[0].name'",
    },
    {
      what: "a tool's schema that is no object, or a union at its top",
      body: { tools: [tool({ parameters: { type: 'object', oneOf: [] } })] },
      says: "must have type 'object' and not have",
    },
    {
      what: "a tool's schema without `properties`",
      body: { tools: [tool({ parameters: { type: 'object' } })] },
      says: 'object schema missing properties',
    },
    {
      what: 'an array in a schema without `items`',
      body: { tools: [tool({ parameters: toSchema({ type: ['array', 'null'] }) })] },
      says: 'array schema missing items',
    },
    {
      what: 'text of an assistant that is not `output_text`, or of another role that is',
      body: of({ role: 'assistant', content: user.content }),
      says: "Invalid value: 'input_text'",
    },
    {
      what: 'text of an assistant that is not `output_text`, or of another role that is',
      body: of({ role: 'user', content: said.content }),
      says: "Invalid value: 'output_text'",
    },
    {
      what: 'an id of an item that is not of its kind',
      body: of({ ...call, id: 'toolu_1' }, output),
      says: "Expected an ID that begins with 'fc'.",
    },
    {
      what: 'an item twice',
      body: of(reasoning, reasoning, said),
      says: 'Duplicate item found with id rs_1',
    },
    {
      what: 'an item by its id alone, which nothing has stored',
      body: of({ type: 'item_reference', id: 'rs_1' }),
      says: 'Items are not persisted when `store` is set to false',
      status: 404,
    },
    {
      what: 'an item by its id alone, which nothing has stored',
      body: of({ type: 'reasoning', id: 'rs_1', summary: [] }, said),
      says: "Item with id 'rs_1' not found",
      status: 404,
    },
    {
      what: 'encrypted reasoning that it did not make',
      body: of({ ...reasoning, encrypted_content: 'gAAAAAB2' }, said),
      says: 'The encrypted content gAAA...AAB2 could not be verified.',
    },
    {
      what: 'reasoning without the item that followed it',
      body: of(reasoning, user),
      says: "Item 'rs_1' of type 'reasoning' was provided without its required following item",
    },
    {
      what: 'an item, by its id, without the reasoning before it',
      body: of({ ...call, id: 'fc_1' }, output),
      says: "provided without its required 'reasoning' item: 'rs_1'",
    },
    {
      what: 'an id of a call over 64 characters',
      body: of({ ...call, call_id: 'c'.repeat(65) }),
      says: "Invalid 'input[1].call_id': string too long",
    },
    {
      what: 'a call without its result',
      body: of(call, user),
      says: 'No tool output found for function call call_1',
    },
    {
      what: 'a result without its call before it',
      body: of(output, call),
      says: 'No tool call found for function call output with call_id call_1',
    },
  ],
})
