import { type Json, toList } from './json.ts'
import { type Playing, type Turn, toEvent, toPieces } from './mimic.ts'

/** Yields a reply's events, in the order of the recorded streams. */
export function* playResponse(turn: Turn, playing: Playing): Iterable<string> {
  let sequence = 0
  const event = (type: string, fields: Json) =>
    toEvent({ type, sequence_number: sequence++, ...fields }, type)
  const response = (status: string, more: Json = {}) => ({
    response: {
      id,
      object: 'response',
      created_at: 1_795_302_000,
      status,
      error: null,
      incomplete_details: null,
      model: playing.body['model'],
      output: [],
      usage: null,
      ...more,
    },
  })
  const id = playing.issue('resp_', 48)
  yield event('response.created', response('in_progress'))
  yield event('response.in_progress', response('in_progress'))
  const output: Json[] = []
  for (const { item, events } of toItems(turn, playing)) {
    const at = { output_index: output.length }
    yield event('response.output_item.added', { ...at, item: { ...item, ...BEGUN[String(item['type'])] } })
    for (const [type, fields] of events) yield event(type, { item_id: item['id'], ...at, ...fields })
    yield event('response.output_item.done', { ...at, item })
    output.push(item)
  }
  const { input, cached, output: written } = playing.usage
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: written,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + written,
  }
  yield event('response.completed', response('completed', { output, usage }))
}

/** Fields of an item that was just added, by its type. */
const BEGUN: Record<string, Json> = {
  reasoning: { summary: [] },
  message: { content: [], status: 'in_progress' },
  function_call: { arguments: '', status: 'in_progress' },
}

interface Item {
  item: Json
  /** Events between the item's start and end. */
  events: [type: string, fields: Json][]
}

function* toItems({ reasoning, text, calls = [] }: Turn, playing: Playing): Iterable<Item> {
  const thought = reasoning === undefined ? undefined : toReasoning(reasoning, playing)
  if (thought) yield thought
  const before = String(thought?.item['id'] ?? '')
  if (text !== undefined) yield toMessage(text, playing.issue('msg_', 48, before))
  for (const { name, arguments: given } of calls)
    yield toCall(name, JSON.stringify(given), playing.issue('fc_', 48, before), playing.issue('call_', 24))
}

function toReasoning(text: string, { issue, body }: Playing): Item {
  const id = issue('rs_', 48)
  const encrypted = toList(body['include']).includes('reasoning.encrypted_content')
  const part = { type: 'summary_text', text }
  const at = { summary_index: 0 }
  return {
    item: {
      id,
      type: 'reasoning',
      ...(encrypted ? { encrypted_content: issue('gAAAAAB', 96, id) } : {}),
      summary: text === '' ? [] : [part],
    },
    events:
      text === ''
        ? []
        : [
            ['response.reasoning_summary_part.added', { ...at, part: { ...part, text: '' } }],
            ...toDeltas('response.reasoning_summary_text.delta', text, at),
            ['response.reasoning_summary_text.done', { ...at, text }],
            ['response.reasoning_summary_part.done', { ...at, part }],
          ],
  }
}

function toMessage(text: string, id: string): Item {
  const part = { type: 'output_text', text, annotations: [], logprobs: [] }
  const at = { content_index: 0 }
  return {
    item: { id, type: 'message', status: 'completed', role: 'assistant', content: [part] },
    events: [
      ['response.content_part.added', { ...at, part: { ...part, text: '' } }],
      ...toDeltas('response.output_text.delta', text, { ...at, logprobs: [] }),
      ['response.output_text.done', { ...at, text, logprobs: [] }],
      ['response.content_part.done', { ...at, part }],
    ],
  }
}

const toCall = (name: string, text: string, id: string, call_id: string): Item => ({
  item: { id, type: 'function_call', status: 'completed', call_id, name, arguments: text },
  events: [
    ...toDeltas('response.function_call_arguments.delta', text, {}),
    ['response.function_call_arguments.done', { arguments: text }],
  ],
})

const toDeltas = (type: string, text: string, fields: Json): Item['events'] =>
  toPieces(text).map(delta => [type, { ...fields, delta }])
