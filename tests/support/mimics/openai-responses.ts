import type { ChatTool } from './chat.ts'
import { type Json, repeated, toObject, toObjects, toText, unknownKeys } from './json.ts'
import { createCheck, type Provider, type Rule, type Script, startMimic } from './mimic.ts'
import { playResponse } from './openai-responses-stream.ts'
import { NO_KEY, openAiToolRules, refuseAsOpenAi, tooLong } from './openai-rules.ts'

interface ResponsesRequest {
  body: Json
  items: Json[]
  tools: ChatTool[]
}

const KNOWN =
  'model input instructions stream stream_options tools tool_choice parallel_tool_calls max_tool_calls max_output_tokens reasoning text include store metadata temperature top_p top_logprobs truncation user prompt prompt_cache_key prompt_cache_retention safety_identifier service_tier previous_response_id conversation background context_management'.split(
    ' ',
  )

/** Prefixes of item ids, by type. */
const PREFIXES: Record<string, string> = { function_call: 'fc', reasoning: 'rs', message: 'msg' }

const inInput = (message: string) => ({ message, param: 'input' })

const typeOf = (item: Json) => toText(item['type'] ?? 'message')
const idOf = (item: Json) => toText(item['id'])
const callIds = (items: readonly Json[], type: string) =>
  items.filter(item => typeOf(item) === type).map(item => toText(item['call_id']))

/** Rules of the Responses API with a reasoning model and nothing stored (`store: false`). */
export const openAiResponsesRules: Rule<ResponsesRequest>[] = [
  {
    what: 'a parameter that it does not know',
    source: 'https://github.com/teabranch/open-responses-server/issues/41',
    *find({ body }) {
      for (const key of unknownKeys(body, KNOWN))
        yield { message: `Unknown parameter: '${key}'.`, param: key, code: 'unknown_parameter' }
    },
  },
  {
    what: 'a `temperature`',
    source: 'https://github.com/vercel/ai/tree/main/packages/openai/src',
    *find({ body }) {
      if ('temperature' in body)
        yield {
          message: "Unsupported parameter: 'temperature' is not supported with this model.",
          param: 'temperature',
        }
    },
  },
  {
    what: 'no input',
    source: 'https://platform.openai.com/docs/api-reference/responses/create',
    *find({ body, items }) {
      if (items.length === 0 && typeof body['input'] !== 'string')
        yield inInput(
          'One of "input" or "previous_response_id" or \'prompt\' or \'conversation_id\' must be provided.',
        )
    },
  },
  ...openAiToolRules({ place: '' }),
  {
    what: 'text of an assistant that is not `output_text`, or of another role that is',
    source: 'https://platform.openai.com/docs/api-reference/responses/create',
    *find({ items }) {
      for (const [at, item] of items.entries()) {
        const theirs = item['role'] === 'assistant'
        for (const [part, { type }] of toObjects(item['content']).entries())
          if (theirs ? type === 'input_text' : type === 'output_text')
            yield {
              message: `Invalid value: '${type}'. Supported values are: ${theirs ? "'output_text' and 'refusal'" : "'input_text', 'input_image', and 'input_file'"}.`,
              param: `input[${at}].content[${part}]`,
              code: 'invalid_value',
            }
      }
    },
  },
  {
    what: 'an id of an item that is not of its kind',
    source: 'https://github.com/openai/openai-cs-agents-demo/issues/34',
    *find({ items }) {
      for (const [at, item] of items.entries()) {
        const prefix = PREFIXES[typeOf(item)]
        if (prefix !== undefined && 'id' in item && !idOf(item).startsWith(prefix))
          yield {
            message: `Invalid 'input[${at}].id': '${item['id']}'. Expected an ID that begins with '${prefix}'.`,
            param: `input[${at}].id`,
            code: 'invalid_value',
          }
      }
    },
  },
  {
    what: 'an item twice',
    source: 'https://github.com/microsoft/vscode/issues/321977',
    *find({ items }) {
      for (const id of repeated(items.map(idOf).filter(id => id !== '')))
        yield inInput(
          `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
        )
    },
  },
  {
    what: 'an item by its id alone, which nothing has stored',
    source: 'https://github.com/vercel/ai/issues/7543',
    *find({ items }) {
      for (const item of items)
        if (
          typeOf(item) === 'item_reference' ||
          (typeOf(item) === 'reasoning' && !toText(item['encrypted_content']))
        )
          yield {
            ...inInput(
              `Item with id '${idOf(item)}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
            ),
            status: 404,
          }
    },
  },
  {
    what: 'encrypted reasoning that it did not make',
    source: 'https://github.com/openai/codex/issues/8145',
    *find({ items }, issued) {
      for (const item of items) {
        const content = toText(item['encrypted_content'])
        if (content !== '' && !issued.has(content))
          yield {
            message: `The encrypted content ${content.slice(0, 4)}...${content.slice(-4)} could not be verified.`,
            code: 'invalid_encrypted_content',
          }
      }
    },
  },
  {
    what: 'reasoning without the item that followed it',
    source: 'https://github.com/vercel/ai/issues/7099',
    *find({ items }) {
      for (const [at, item] of items.entries()) {
        const next = items[at + 1]
        const goesOn = next && (next['role'] === 'assistant' || /reasoning|_call$/.test(typeOf(next)))
        if (typeOf(item) === 'reasoning' && !goesOn)
          yield inInput(
            `Item '${idOf(item)}' of type 'reasoning' was provided without its required following item.`,
          )
      }
    },
  },
  {
    what: 'an item, by its id, without the reasoning before it',
    source: 'https://github.com/continuedev/continue/issues/11994',
    *find({ items }, issued) {
      const ids = items.map(idOf)
      for (const [at, item] of items.entries()) {
        const reasoning = issued.get(ids[at] ?? '')
        if (reasoning && !ids.slice(0, at).includes(reasoning))
          yield inInput(
            `Item '${ids[at]}' of type '${typeOf(item)}' was provided without its required 'reasoning' item: '${reasoning}'.`,
          )
      }
    },
  },
  {
    what: 'an id of a call over 64 characters',
    source: 'https://github.com/AnswerDotAI/fastllm/issues/45',
    *find({ items }) {
      for (const [at, { call_id }] of items.entries())
        if (toText(call_id).length > 64) yield tooLong(`input[${at}].call_id`, toText(call_id), 64)
    },
  },
  {
    what: 'a call without its result',
    source: 'https://github.com/bytedance/trae-agent/issues/245',
    *find({ items }) {
      const results = callIds(items, 'function_call_output')
      for (const id of callIds(items, 'function_call'))
        if (!results.includes(id)) yield inInput(`No tool output found for function call ${id}.`)
    },
  },
  {
    what: 'a result without its call before it',
    source: 'https://github.com/microsoft/vscode/issues/320060',
    *find({ items }) {
      for (const [at, item] of items.entries()) {
        const id = toText(item['call_id'])
        if (
          typeOf(item) === 'function_call_output' &&
          !callIds(items.slice(0, at), 'function_call').includes(id)
        )
          yield inInput(`No tool call found for function call output with call_id ${id}.`)
      }
    },
  },
]

const openAiResponses: Provider<ResponsesRequest> = {
  name: 'openai-responses',
  base: '/v1',
  path: /^\/responses$/,
  key: NO_KEY,
  rules: openAiResponsesRules,
  read: body => ({
    body,
    items: toObjects(body['input']),
    tools: toObjects(body['tools'])
      .map(toObject)
      .map(({ name, description, parameters }) => ({
        name: toText(name),
        description: toText(description),
        parameters,
      })),
  }),
  refuse: refuseAsOpenAi,
  play: playResponse,
}

export const checkOpenAiResponses = createCheck(openAiResponses)
export const startOpenAiResponsesMimic = (script: Script) => startMimic(openAiResponses, script)
