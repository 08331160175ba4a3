import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { messageText } from '../../../schemas/chat.ts'
import { pictures } from '../../../schemas/picture.ts'
import { describeProblems } from '../../../schemas/problems.ts'
import { answerSchema } from '../../core/answer-schema.ts'
import { HubError } from '../../core/errors.ts'
import { withoutNul } from '../../core/json.ts'
import { readPicture } from '../../core/picture.ts'
import { digest } from '../doors.ts'
import { answerOwnRequest } from './own-requests.ts'

/** The parts of a chat completion's request that count here; sampling and tools are the agent's own. */
const completion = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.unknown().optional() })),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  user: z.unknown().optional(),
  response_format: z
    .union([
      z.object({ type: z.literal('json_schema'), json_schema: z.object({ schema: answerSchema }) }),
      z.object({ type: z.enum(['text', 'json_object']) }),
    ])
    .nullish(),
})

const part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) }),
])
const content = z.union([z.string().transform(text => [{ type: 'text' as const, text }]), z.array(part)])

/** The part of a chat completion's request that concerns the hub: a person's message to an agent. */
export interface Completion {
  agent: string
  /** Name of the program's chat, from what the program calls it; undefined if it says nothing. */
  chat: string | undefined
  said: {
    text: string
    images?: z.infer<typeof pictures>
    clientId: string | undefined
    schema: z.infer<typeof answerSchema> | undefined
  }
  /** Answer to a request that is the program's own and no person's. */
  own: string | undefined
  isStreamed: boolean
  wantsUsage: boolean
}

/** Reads a chat completion's request. Throws `invalid_arguments`. */
export function readCompletion(request: IncomingMessage, body: unknown): Completion {
  const { model, messages, stream, stream_options, user, response_format } = check(completion, body, 'body')
  const system = messages.filter(({ role }) => role === 'system' || role === 'developer')
  const last = messages.at(-1)
  if (last?.role !== 'user')
    throw new HubError(
      'invalid_arguments',
      'messages: the last one must be of the role user. An agent answers what is said to it; it continues no text and takes no results of tools.',
    )
  const parts = check(content, last.content, 'content of the last message')
  const text = parts.flatMap(each => (each.type === 'text' ? each.text : [])).join('\n\n')
  const images = parts.flatMap(each => (each.type === 'image_url' ? toPicture(each.image_url.url) : []))
  const chat = headerOf(request, CHAT_IDS) ?? (typeof user === 'string' && user !== '' ? user : undefined)
  const own = answerOwnRequest(
    String(system[0]?.content ?? ''),
    text.trim(),
    headerOf(request, TASKS) !== undefined,
  )
  return {
    agent: model,
    chat: chat === undefined ? undefined : digest(chat).toString('hex').slice(0, 16),
    said: {
      text:
        own ?? check(messageText, images.length > 0 ? text.trim() || '(a picture)' : text, 'last message'),
      ...(images.length === 0 ? {} : { images: check(pictures, images, 'pictures') }),
      clientId: headerOf(request, KEYS),
      schema: response_format?.type === 'json_schema' ? response_format.json_schema.schema : undefined,
    },
    own,
    isStreamed: stream === true,
    wantsUsage: stream_options?.include_usage === true,
  }
}

/** Headers in which programs name a chat, a person's message, and a task of their own; Open WebUI's by its custom. */
const CHAT_IDS = ['x-openwebui-chat-id', 'x-conversation-id']
const KEYS = ['idempotency-key', 'x-openwebui-user-message-id']
const TASKS = ['x-openwebui-task']

const LONGEST_HEADER = 200

/** Returns the first of the headers with a value, of a long one its digest; one with `{{` is a placeholder that a program did not fill. */
function headerOf({ headers }: IncomingMessage, names: readonly string[]): string | undefined {
  const values = names.map(name => String(headers[name] ?? ''))
  const value = values.find(each => each !== '' && !each.includes('{{'))
  return value !== undefined && value.length > LONGEST_HEADER ? digest(value).toString('hex') : value
}

function toPicture(url: string) {
  const [, type = '', data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? []
  if (data !== undefined) return { mimeType: readPicture(data)?.mimeType ?? type, data }
  throw new HubError('invalid_arguments', 'image_url: send the picture itself, as data:image/…;base64,…')
}

function check<Schema extends z.ZodType>(schema: Schema, value: unknown, what: string): z.output<Schema> {
  const { data, error } = schema.safeParse(withoutNul(value))
  if (error) throw new HubError('invalid_arguments', describeProblems(error, what))
  return data
}
