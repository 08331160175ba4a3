import { isObject, type Json, repeated, toObject, toObjects, toText } from './json.ts'
import type { Fault, Rule } from './mimic.ts'

export interface MessagesRequest {
  body: Json
  messages: Message[]
  tools: Json[]
}

export interface Message {
  role: unknown
  blocks: Json[]
}

const toBlocks = (content: unknown): Json[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : toObjects(content)

export const readMessages = (body: Json): MessagesRequest => ({
  body,
  messages: toObjects(body['messages']).map(({ role, content }) => ({ role, blocks: toBlocks(content) })),
  tools: toObjects(body['tools']),
})

const ofType = ({ blocks }: Message, type: string) => blocks.filter(block => block['type'] === type)
const isThinking = ({ type }: Json) => type === 'thinking' || type === 'redacted_thinking'

/** Yields every block with its path. */
function* allBlocks(messages: readonly Message[]): Iterable<{ block: Json; at: string }> {
  for (const [index, { blocks }] of messages.entries())
    for (const [position, block] of blocks.entries())
      yield { block, at: `messages.${index}.content.${position}` }
}

/** The rules by which Anthropic refuses a history. */
export const anthropicMessageRules: Rule<MessagesRequest>[] = [
  {
    what: 'a role other than `user` and `assistant`',
    source: 'https://platform.claude.com/docs/en/api/messages',
    *find({ messages }) {
      for (const { role } of messages)
        if (role !== 'user' && role !== 'assistant')
          yield {
            message: `messages: Unexpected role "${role}". The Messages API accepts a top-level \`system\` parameter, not "${role}" as an input message role.`,
          }
    },
  },
  {
    what: 'no message, or a first one that is not of the user',
    source: 'https://platform.claude.com/docs/en/api/messages',
    *find({ messages: [first] }) {
      if (!first) yield { message: 'messages: at least one message is required' }
      else if (first.role !== 'user') yield { message: 'messages: first message must use the "user" role' }
    },
  },
  {
    what: 'a last message of the assistant',
    source: 'https://github.com/smallmain/vscode-unify-chat-provider/issues/249',
    *find({ messages }) {
      if (messages.at(-1)?.role === 'assistant')
        yield {
          message:
            'This model does not support assistant message prefill. The conversation must end with a user message.',
        }
    },
  },
  {
    what: 'a message without content',
    source: 'https://github.com/glowingjade/obsidian-smart-composer/pull/156',
    *find({ body }) {
      for (const [at, { content }] of toObjects(body['messages']).entries())
        if (content === '' || content === undefined || (Array.isArray(content) && content.length === 0))
          yield {
            message: `messages.${at}: all messages must have non-empty content except for the optional final assistant message`,
          }
    },
  },
  {
    what: 'a text without anything in it',
    source: 'https://github.com/anthropics/claude-code/issues/59812',
    *find({ body, messages }) {
      const texts = [...allBlocks(messages)].flatMap(({ block }) => [
        block,
        ...toObjects(block['type'] === 'tool_result' ? block['content'] : []),
      ])
      if (texts.some(({ type, text }) => type === 'text' && text === ''))
        yield { message: 'messages: text content blocks must be non-empty' }
      if (toBlocks(body['system'] ?? []).some(({ text }) => text === '') && body['system'] !== '')
        yield { message: 'system: text content blocks must be non-empty' }
    },
  },
  {
    what: 'a text of white space alone',
    source: 'https://github.com/anthropics/claude-code/issues/23440',
    *find({ messages }) {
      if (
        [...allBlocks(messages)].some(
          ({ block }) => block['type'] === 'text' && !toText(block['text']).trim(),
        )
      )
        yield { message: 'messages: text content blocks must contain non-whitespace text' }
    },
  },
  {
    what: 'the same id for two calls',
    source: 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview',
    *find({ messages }) {
      const ids = messages.flatMap(message => ofType(message, 'tool_use').map(({ id }) => id))
      if (repeated(ids).length > 0) yield { message: 'messages: `tool_use` ids must be unique' }
    },
  },
  {
    what: 'an id of a call with other characters than letters, digits, `_` and `-`',
    source: 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview',
    *find({ messages }) {
      for (const { block, at } of allBlocks(messages))
        if (block['type'] === 'tool_use' && !/^[a-zA-Z0-9_-]+$/.test(toText(block['id'])))
          yield { message: `${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'` }
    },
  },
  {
    what: 'arguments of a call that are no object',
    source: 'https://platform.claude.com/docs/en/api/messages',
    *find({ messages }) {
      for (const { block, at } of allBlocks(messages))
        if (block['type'] === 'tool_use' && !isObject(block['input']))
          yield { message: `${at}.tool_use.input: Input should be a valid dictionary` }
    },
  },
  {
    what: 'a call whose result does not begin the next message',
    source: 'https://github.com/anthropics/claude-code/issues/8612',
    *find({ messages }) {
      for (const [at, message] of messages.entries()) {
        const next = messages[at + 1]?.blocks ?? []
        const first = next.slice(0, leading(next)).map(block => block['tool_use_id'])
        const missing = ofType(message, 'tool_use').filter(({ id }) => !first.includes(id))
        if (missing.length > 0) {
          const ids = missing.map(({ id }) => id).join(', ')
          yield {
            message: `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
          }
        }
      }
    },
  },
  {
    what: 'a result without its call in the message before',
    source: 'https://github.com/anthropics/claude-code/issues/13460',
    *find({ messages }) {
      for (const [at, message] of messages.entries()) {
        const before = messages[at - 1]
        const ids = before ? ofType(before, 'tool_use').map(({ id }) => id) : []
        for (const [position, { type, tool_use_id }] of message.blocks.entries())
          if (type === 'tool_result' && !ids.includes(tool_use_id))
            yield {
              message: `messages.${at}.content.${position}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${tool_use_id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
            }
      }
    },
  },
  {
    what: 'two results for one call',
    source: 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview',
    *find({ messages }) {
      for (const [at, message] of messages.entries())
        for (const id of repeated(ofType(message, 'tool_result').map(({ tool_use_id }) => tool_use_id)))
          yield {
            message: `messages.${at}.content: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
          }
    },
  },
  {
    what: 'thinking that it did not sign, or that was changed',
    source: 'https://github.com/anthropics/anthropic-sdk-python/issues/1598',
    *find({ messages }, issued) {
      for (const { block, at } of allBlocks(messages))
        if (block['type'] === 'thinking' && issued.get(toText(block['signature'])) !== block['thinking'])
          yield { message: `${at}: Invalid \`signature\` in \`thinking\` block` }
    },
  },
  {
    what: 'thinking at the end of a message',
    source: 'https://github.com/cortexkit/anthropic-auth/pull/49',
    *find({ messages }) {
      for (const [at, { blocks }] of messages.entries()) {
        const last = blocks.at(-1)
        if (last && isThinking(last))
          yield { message: `messages.${at}: The final block in an assistant message cannot be \`thinking\`.` }
      }
    },
  },
  {
    what: 'calls of the current turn without thinking before them, where `thinking` is `enabled`',
    source: 'https://github.com/lbjlaq/Antigravity-Manager/issues/139',
    *find({ body, messages }) {
      const at = messages.length - 2
      const message = messages[at]
      const [first] = message?.blocks ?? []
      const awaits = message && ofType(message, 'tool_use').length > 0
      if (toObject(body['thinking'])['type'] === 'enabled' && awaits && first && !isThinking(first))
        yield expectsThinking(at, toText(first['type']))
    },
  },
]

/** Counts the results at the start of a message. */
function leading(blocks: readonly Json[]): number {
  const other = blocks.findIndex(({ type }) => type !== 'tool_result')
  return other < 0 ? blocks.length : other
}

const expectsThinking = (at: number, found: string): Fault => ({
  message: `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${found}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking`,
})
