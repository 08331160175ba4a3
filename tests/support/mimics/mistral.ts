import { Ajv } from 'ajv'
import { type ChatRequest, callsOf, findUnpaired, hasImage, playChat, readChat } from './chat.ts'
import { type Json, toList, toObject, toText, unknownKeys } from './json.ts'
import { createCheck, type Fault, type Provider, type Rule, type Script, startMimic } from './mimic.ts'

const KNOWN =
  'model messages temperature top_p max_tokens stream stop random_seed metadata response_format tools tool_choice presence_penalty frequency_penalty n prediction parallel_tool_calls prompt_mode reasoning_effort safe_prompt guardrails'.split(
    ' ',
  )

const IN_MESSAGES: Record<string, readonly string[]> = {
  system: ['role', 'content'],
  user: ['role', 'content'],
  assistant: ['role', 'content', 'tool_calls', 'prefix'],
  tool: ['role', 'content', 'tool_call_id', 'name'],
}

/** The roles that may follow each role, by the validator of mistral-common. */
const FOLLOWERS: Record<string, readonly string[]> = {
  system: ['user', 'assistant', 'system'],
  user: ['assistant', 'system', 'user'],
  assistant: ['assistant', 'user', 'tool'],
  tool: ['assistant', 'tool'],
}

const VALIDATOR =
  'https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py'

const schemas = new Ajv({ strict: false, validateFormats: false })

const inOrder = (message: string): Fault => ({
  message,
  type: 'invalid_request_message_order',
  code: '3230',
})

const nameFault = (name: string): Fault => ({
  message: `Function name was ${name} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.`,
})

const isName = (name: unknown) => /^[a-zA-Z0-9_-]{1,64}$/.test(toText(name))

/**
 * Creates the fault of an unknown field: it has the field's path, in another form and with another status.
 */
const extra = (loc: readonly (string | number)[], input: unknown): Fault => ({
  message: JSON.stringify({
    detail: [{ type: 'extra_forbidden', loc, msg: 'Extra inputs are not permitted', input }],
  }),
  status: 422,
})

export const mistralRules: Rule<ChatRequest>[] = [
  {
    what: 'a parameter that it does not know (`max_completion_tokens`, `stream_options`, …)',
    source: 'https://github.com/editor-code-assistant/eca/issues/231',
    *find({ body }) {
      for (const key of unknownKeys(body, KNOWN)) yield extra(['body', key], body[key])
    },
  },
  {
    what: 'a field of a message that it does not know (`reasoning_content`, …)',
    source: 'https://github.com/charmbracelet/crush/issues/1590',
    *find({ messages }) {
      for (const [at, message] of messages.entries()) {
        const role = toText(message['role'])
        for (const key of unknownKeys(message, IN_MESSAGES[role] ?? Object.keys(message)))
          yield extra(['body', 'messages', at, role, key], message[key])
      }
    },
  },
  {
    what: 'a role that it does not know',
    source: VALIDATOR,
    *find({ messages }) {
      for (const [at, { role }] of messages.entries())
        if (!(toText(role) in FOLLOWERS)) yield extra(['body', 'messages', at, 'role'], role)
    },
  },
  {
    what: 'no message',
    source: VALIDATOR,
    *find({ messages }) {
      if (messages.length === 0) yield inOrder('Conversation must have at least one message')
    },
  },
  {
    what: 'an assistant message at the end',
    source: 'https://github.com/0xPlaygrounds/rig/pull/1130',
    *find({ messages }) {
      const last = messages.at(-1)
      if (last?.['role'] === 'assistant' && last['prefix'] !== true)
        yield inOrder(
          'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
        )
    },
  },
  {
    what: 'a role in the wrong place: a user after a tool, a tool after a user or a system',
    source: 'https://github.com/datapizza-labs/datapizza-ai/issues/98',
    *find({ messages }) {
      for (const [at, { role }] of messages.entries()) {
        const before = toText(messages[at - 1]?.['role'])
        if (at > 0 && !FOLLOWERS[before]?.includes(toText(role)))
          yield inOrder(`Unexpected role '${role}' after role '${before}'`)
      }
    },
  },
  {
    what: 'another number of results than of calls',
    source: 'https://github.com/mistralai/client-ts/issues/106',
    *find({ messages }) {
      for (const _ of findUnpaired(messages))
        yield inOrder('Not the same number of function calls and responses')
    },
  },
  {
    what: 'an assistant message with neither text nor calls',
    source: 'https://github.com/OpenHands/OpenHands/issues/8685',
    *find({ messages }) {
      for (const message of messages)
        if (message['role'] === 'assistant' && isBlank(message) && callsOf(message).length === 0)
          yield { message: 'Assistant message must have either content or tool_calls, but not none.' }
    },
  },
  {
    what: 'an id of a call that is not nine letters and digits',
    source: 'https://github.com/nearai/ironclaw/issues/1241',
    *find({ messages }) {
      const ids = messages.flatMap(message => [
        ...callsOf(message).map(({ id }) => id),
        ...(message['role'] === 'tool' ? [message['tool_call_id']] : []),
      ])
      for (const id of ids)
        if (!/^[a-zA-Z0-9]{9}$/.test(toText(id)))
          yield {
            message: `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`,
            type: 'invalid_function_call',
            code: '3280',
          }
    },
  },
  {
    what: 'a name of a tool with other characters than letters, digits, `_` and `-`, or over 64',
    source: VALIDATOR,
    *find({ messages, tools }) {
      const called = messages.flatMap(callsOf).map(call => toText(toObject(call['function'])['name']))
      for (const name of [...tools.map(tool => tool.name), ...called])
        if (!isName(name)) yield nameFault(name)
    },
  },
  {
    what: 'a schema that JSON Schema draft 7 does not allow',
    source: VALIDATOR,
    *find({ tools }) {
      for (const { parameters } of tools) {
        const { $schema, ...schema } = toObject(parameters)
        if (schemas.validateSchema(schema) !== true)
          yield { message: `Invalid tool schema: ${schemas.errorsText()}` }
      }
    },
  },
  {
    what: 'a picture in the result of a tool',
    source: 'https://github.com/LibreChat-AI/agents/issues/344',
    *find({ messages }) {
      for (const message of messages)
        if (message['role'] === 'tool' && hasImage(message))
          yield {
            message:
              "3 validation errors for ToolMessage ... content.list[TextChunk].1.type\n  Input should be <ChunkTypes.text: 'text'>",
          }
    },
  },
]

const isBlank = ({ content }: Json) => !content || (Array.isArray(content) && toList(content).length === 0)

const mistral: Provider<ChatRequest> = {
  name: 'mistral',
  base: '/v1',
  path: /^\/chat\/completions$/,
  key: { header: 'authorization', fault: { status: 401, message: 'Unauthorized' } },
  rules: mistralRules,
  read: readChat,
  refuse: ({ status = 400, message, type = 'invalid_request_error', param = null, code = null }) => ({
    status,
    body: {
      object: 'error',
      message: status === 422 ? JSON.parse(message) : message,
      type,
      param,
      code,
      raw_status_code: status,
    },
  }),
  play: (turn, playing) =>
    playChat(turn, playing, {
      reasoning: text => ({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] }),
      // A reasoning model sends its text as parts too.
      text: text => ({ content: turn.reasoning === undefined ? text : [{ type: 'text', text }] }),
      callId: ({ issue }) => issue('', 9),
      calls: 'whole',
      usage: 'with-finish',
    }),
}

export const checkMistral = createCheck(mistral)
export const startMistralMimic = (script: Script) => startMimic(mistral, script)
