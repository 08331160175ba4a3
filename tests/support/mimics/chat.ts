import { type Json, toObject, toObjects, toText } from './json.ts'
import { type Playing, type Turn, toEvent, toPieces } from './mimic.ts'

/** A chat completion request, with its valid parts. */
export interface ChatRequest {
  body: Json
  messages: Json[]
  tools: ChatTool[]
}

export interface ChatTool {
  name: string
  description: string
  parameters: unknown
}

export const readChat = (body: Json): ChatRequest => ({
  body,
  messages: toObjects(body['messages']),
  tools: toObjects(body['tools']).map(tool => {
    const { name, description, parameters } = toObject(tool['function'])
    return { name: toText(name), description: toText(description), parameters }
  }),
})

/** A break in the pairs of calls and results. `at` is the message's index. */
export type Unpaired =
  | { kind: 'unanswered'; at: number; ids: string[] }
  | { kind: 'orphan'; at: number; id: string }
  | { kind: 'repeated'; at: number; id: string }

/** Finds breaks: every call needs one result, and the results must follow the message with the calls. */
export function* findUnpaired(messages: readonly Json[]): Iterable<Unpaired> {
  let open = new Set<string>()
  let answered = new Set<string>()
  let from = 0
  for (const [at, message] of messages.entries()) {
    const id = toText(message['tool_call_id'])
    if (message['role'] === 'tool') {
      if (answered.has(id)) yield { kind: 'repeated', at, id }
      else if (!open.delete(id)) yield { kind: 'orphan', at, id }
      answered.add(id)
      continue
    }
    if (open.size > 0) yield { kind: 'unanswered', at: from, ids: [...open] }
    open = new Set(callsOf(message).map(call => toText(call['id'])))
    answered = new Set()
    from = at
  }
  if (open.size > 0) yield { kind: 'unanswered', at: from, ids: [...open] }
}

export const callsOf = (message: Json): Json[] => toObjects(message['tool_calls'])

/** Returns the parts of a message's content; a text is one part. */
export const partsOf = ({ content }: Json): Json[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : toObjects(content)

export const hasImage = (message: Json): boolean =>
  partsOf(message).some(part => part['type'] === 'image_url')

/** The differences between providers' chat completion streams. */
export interface ChatDialect {
  /** Returns the field for a piece of reasoning. */
  reasoning(text: string): Json
  /** Returns the field for a piece of the reply; default `content`. */
  text?(text: string): Json
  callId(playing: Playing): string | undefined
  /** Arguments are streamed in pieces, or each call comes whole. */
  calls: 'streamed' | 'whole'
  /** Returns the index of a call in its chunk; undefined omits it. */
  index?(position: number): number | undefined
  /** Usage comes with the last choice, or in its own chunk if requested. */
  usage: 'with-finish' | 'own-chunk'
  /** Returns further chunks at the end, such as signatures. */
  closing?(turn: Turn, playing: Playing, ids: readonly (string | undefined)[]): Json[]
  /** Returns usage fields besides OpenAI's. */
  moreUsage?(playing: Playing): Json
}

/** Plays a reply as a stream of chat completion chunks. */
export function* playChat(turn: Turn, playing: Playing, dialect: ChatDialect): Iterable<string> {
  const id = playing.issue('chatcmpl-', 24)
  const chunk = (delta: Json, finish_reason: string | null = null, more: Json = {}) =>
    toEvent({ ...head(id, playing), choices: [{ index: 0, delta, finish_reason }], ...more })
  const { reasoning = '', text = '', calls = [] } = turn
  yield chunk({ role: 'assistant', content: '' })
  for (const piece of toPieces(reasoning)) yield chunk(dialect.reasoning(piece))
  for (const piece of toPieces(text)) yield chunk(dialect.text?.(piece) ?? { content: piece })
  const ids = calls.map(() => dialect.callId(playing))
  for (const delta of callDeltas(calls, ids, dialect)) yield chunk({ tool_calls: [delta] })
  for (const delta of dialect.closing?.(turn, playing, ids) ?? []) yield chunk(delta)
  const usage = toUsage(playing, dialect)
  const finish = calls.length > 0 ? 'tool_calls' : 'stop'
  if (dialect.usage === 'with-finish') yield chunk({}, finish, { usage })
  else {
    yield chunk({}, finish)
    if (toObject(playing.body['stream_options'])['include_usage'] === true)
      yield toEvent({ ...head(id, playing), choices: [], usage })
  }
  yield toEvent('[DONE]')
}

const head = (id: string, { body }: Playing) => ({
  id,
  object: 'chat.completion.chunk',
  created: 1_795_302_000,
  model: body['model'],
})

function* callDeltas(
  calls: NonNullable<Turn['calls']>,
  ids: readonly (string | undefined)[],
  { calls: how, index = position => position }: ChatDialect,
): Iterable<Json> {
  for (const [position, call] of calls.entries()) {
    const name = call.name
    const text = JSON.stringify(call.arguments)
    const number = index(position)
    const place = number === undefined ? {} : { index: number }
    const first = {
      ...place,
      ...(ids[position] === undefined ? {} : { id: ids[position] }),
      type: 'function',
    }
    if (how === 'whole') yield { ...first, function: { name, arguments: text } }
    else {
      yield { ...first, function: { name, arguments: '' } }
      for (const piece of toPieces(text)) yield { ...place, function: { arguments: piece } }
    }
  }
}

function toUsage(playing: Playing, dialect: ChatDialect): Json {
  const { input, cached, output } = playing.usage
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    ...dialect.moreUsage?.(playing),
  }
}
