import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ModelError, type ModelReply } from '../../hub/core/model.ts'
import { specsFolder } from '../support/openapi.ts'
import { ask, openModel, SSE, serve } from '../support/provider.ts'

/** The providers of ours that read each folder's streams. */
const READERS: Record<string, readonly string[]> = {
  anthropic: ['anthropic'],
  google: ['google'],
  mistral: ['mistral', 'compatible'],
  deepseek: ['deepseek', 'compatible'],
  groq: ['compatible'],
  'alibaba-qwen': ['compatible', 'openrouter'],
  'moonshot-kimi': ['compatible'],
  'openai-chat': ['compatible', 'openrouter'],
  'openai-responses': ['openai'],
  'open-responses': ['openai'],
}
const NAMED_EVENTS = ['anthropic', 'openai-responses', 'open-responses']

interface Recorded {
  name: string
  provider: string
  events: string[]
}

function readRecorded(): Recorded[] {
  return Object.entries(READERS).flatMap(([folder, readers]) => {
    const path = join(specsFolder(), 'models', folder)
    const files = readdirSync(path).filter(file => file.endsWith('.chunks.txt'))
    return files.flatMap(file => {
      const lines = readFileSync(join(path, file), 'utf8').split('\n')
      const events = lines.filter(line => line !== '').map(line => toEvent(folder, line))
      if (!NAMED_EVENTS.includes(folder) && folder !== 'google') events.push('data: [DONE]\n\n')
      return readers.map(provider => ({ name: file.replace('.chunks.txt', ''), provider, events }))
    })
  })
}

function toEvent(folder: string, line: string): string {
  const named = NAMED_EVENTS.includes(folder) ? `event: ${/"type":"([^"]+)"/.exec(line)?.[1]}\n` : ''
  return `${named}data: ${line}\n\n`
}

type Outcome = ModelReply | ModelError

/** Reads streams with one of our providers. Any error except a ModelError fails the test. */
async function readAll(provider: string, texts: readonly string[]): Promise<Outcome[]> {
  const queue = [...texts]
  await using server = await serve(response => void response.writeHead(200, SSE).end(queue.shift()))
  const model = openModel(server.url, { provider, model: 'm' })
  const outcomes: Outcome[] = []
  for (const _ of texts) {
    const outcome: Outcome = await ask(model, 'hi').then(
      ({ reply, shown }) => {
        expect(shown.join('').trim()).toBe(reply.text.trim())
        return reply
      },
      error => error,
    )
    if (outcome instanceof Error) expect(outcome).toBeInstanceOf(ModelError)
    outcomes.push(outcome)
  }
  return outcomes
}

function summarize(outcome: Outcome | undefined) {
  if (!outcome || outcome instanceof Error) return { error: outcome?.kind }
  const { text, calls, usage, thinking, truncated } = outcome
  return {
    text: text.length > 60 ? `${text.slice(0, 60)}… (${text.length})` : text,
    calls: calls.map(({ name, arguments: args }) => `${name} ${args.slice(0, 80)}`),
    ...(usage && { usage: `${usage.input} in, ${usage.cachedInput} of them cached, ${usage.output} out` }),
    ...(thinking && { thought: thinking.text.length }),
    ...(Array.isArray(thinking?.parts) && { parts: thinking.parts.length }),
    ...(truncated && { truncated }),
  }
}

const MOST_CUTS = 40
const GARBAGE = [
  'data: {"x":',
  'data: null',
  'data: 7',
  'data: []',
  'data: {"choices":7}',
  'data: {"type":"none"}',
  'data: {"choices":[{"delta":"x"},4]}',
  'data: {"choices":[{"delta":{"content":{},"reasoning_details":[1,null,{}],"tool_calls":[null,5,{}]}}]}',
  'data: {"candidates":[{"content":{"parts":[null,{"functionCall":7}]}}]}',
  'data: {"type":"content_block_delta","index":99,"delta":{"type":"text_delta","text":7}}',
  'data: {"type":"response.output_item.done","item":{"type":"function_call"}}',
  'event',
]

describe('recorded streams', () => {
  const recorded = readRecorded()

  it.each(recorded)('$name, read by $provider', async ({ provider, events }) => {
    const [whole] = await readAll(provider, [events.join('')])
    expect(summarize(whole)).toMatchSnapshot()
  })

  it.each(recorded)(
    '$name, cut anywhere, is an error or whole, for $provider',
    async ({ provider, events }) => {
      const [whole] = await readAll(provider, [events.join('')])
      // Some files contain several replies.
      const isOne = events.filter(event => event.includes('"response.completed"')).length < 2
      const step = Math.ceil(events.length / MOST_CUTS)
      const cuts = events.flatMap((event, at) => {
        const before = events.slice(0, at).join('')
        return at % step === 0 ? [before, before + event.slice(0, event.length / 2)] : []
      })
      for (const outcome of await readAll(provider, cuts)) {
        if (outcome instanceof Error || !whole || whole instanceof Error || !isOne) continue
        // A signature or the usage may follow the finish reason.
        expect(outcome).toMatchObject({ text: whole.text, calls: whole.calls.map(({ name }) => ({ name })) })
      }
    },
  )

  it.each(recorded)('$name, doubled or with garbage, for $provider', async ({ provider, events }) => {
    const doubled = events.map(event => event + event).join('')
    const places = [0, 1, Math.floor(events.length / 2), events.length - 1]
    const littered = GARBAGE.flatMap(garbage =>
      places.map(at => events.toSpliced(at, 0, `${garbage}\n\n`).join('')),
    )
    await readAll(provider, [doubled, ...littered])
  })
})
