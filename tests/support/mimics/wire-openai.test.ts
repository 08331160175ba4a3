import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { startGroqMimic, toolUseFailed } from './groq.ts'
import { type Json, toObjects } from './json.ts'
import { startLlamaCppMimic } from './llama-cpp.ts'
import { startLmStudioMimic } from './lm-studio.ts'
import type { Mimic, Script } from './mimic.ts'
import { startOllamaMimic } from './ollama.ts'
import { startOpenAiChatMimic } from './openai-chat.ts'
import { startOpenRouterMimic } from './openrouter.ts'
import { STORY } from './stories.ts'
import { startVllmMimic } from './vllm.ts'

type Request = OpenAI.ChatCompletionCreateParamsStreaming
type Message = OpenAI.ChatCompletionMessageParam

interface Case {
  name: string
  start(script: Script): Promise<Mimic>
  model: string
  /** The field with a piece of reasoning; OpenAI sends none. */
  reasoning: string
  more?: Json
}

const CASES: Case[] = [
  {
    name: 'openai-chat',
    start: startOpenAiChatMimic,
    model: 'gpt-5.6',
    reasoning: 'none',
    more: { reasoning_effort: 'none' },
  },
  {
    name: 'openrouter',
    start: startOpenRouterMimic,
    model: 'google/gemini-3-flash-preview',
    reasoning: 'reasoning',
  },
  { name: 'groq', start: startGroqMimic, model: 'openai/gpt-oss-120b', reasoning: 'reasoning' },
  { name: 'llama-cpp', start: startLlamaCppMimic, model: 'qwen3', reasoning: 'reasoning_content' },
  { name: 'lm-studio', start: startLmStudioMimic, model: 'qwen3', reasoning: 'reasoning_content' },
  { name: 'ollama', start: startOllamaMimic, model: 'qwen3', reasoning: 'reasoning' },
  { name: 'vllm', start: startVllmMimic, model: 'qwen3', reasoning: 'reasoning_content' },
]

const TOOLS: OpenAI.ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'get_time',
      description: 'The time',
      parameters: { type: 'object', properties: { at: { type: 'string' } } },
    },
  },
]

const QUESTION: Message = { role: 'user', content: 'What time is it?' }

const connect = ({ url }: Mimic) => new OpenAI({ baseURL: url, apiKey: 'sk-mimic', maxRetries: 0 })

/** Reads a whole reply. A call with a new id is a new call, whatever its index: Ollama's are all 0. */
async function ask({ model, more, reasoning: field }: Case, mimic: Mimic, messages: Message[]) {
  const request = { model, messages, tools: TOOLS, stream_options: { include_usage: true }, ...more }
  const stream = await connect(mimic).chat.completions.create({ ...request, stream: true } as Request)
  const calls: { id?: string | undefined; name?: string | undefined; arguments: string }[] = []
  const details: Json[] = []
  let text = ''
  let reasoning = ''
  let usage: OpenAI.CompletionUsage | undefined
  for await (const chunk of stream) {
    usage = chunk.usage ?? usage
    const delta = chunk.choices[0]?.delta
    text += delta?.content ?? ''
    reasoning += (delta as Json | undefined)?.[field] ?? ''
    details.push(...toObjects((delta as Json | undefined)?.['reasoning_details']))
    for (const { index, id, function: called } of delta?.tool_calls ?? []) {
      if (called?.name) calls.push({ id, name: called.name, arguments: '' })
      const call = called?.name ? calls.at(-1) : calls[index]
      if (call) call.arguments += called?.arguments ?? ''
    }
  }
  return { text, reasoning, calls, usage, details }
}

type Reply = Awaited<ReturnType<typeof ask>>

/** Returns the history after the calls. */
const answer = ({ calls, text, details }: Reply): Message[] => [
  QUESTION,
  {
    role: 'assistant',
    content: text,
    tool_calls: calls.map(({ id = '', name = '', arguments: given }) => ({
      id,
      type: 'function',
      function: { name, arguments: given },
    })),
    ...(details.length > 0 ? { reasoning_details: details } : {}),
  },
  ...calls.map(({ id = '' }): Message => ({ role: 'tool', tool_call_id: id, content: 'noon' })),
]

describe.each(CASES)("$name, read by OpenAI's own client", provider => {
  test('plays parallel calls, the reply after their results, and a silent reply', async () => {
    await using mimic = await provider.start(STORY)
    const shown = (text: string) => (provider.reasoning === 'none' ? '' : text)
    const called = await ask(provider, mimic, [QUESTION])
    expect(called).toMatchObject({ text: 'I look.', reasoning: shown('Both clocks.') })
    expect(called.calls.map(call => JSON.parse(call.arguments))).toEqual([{ at: 'home' }, { at: 'sea' }])
    expect(new Set(called.calls.map(({ id }) => id)).size).toBe(2)
    expect(called.usage).toMatchObject({
      prompt_tokens: 120,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 40 },
    })
    const replied = await ask(provider, mimic, answer(called))
    expect(replied).toMatchObject({ text: 'It is noon.', calls: [] })
    const silent = await ask(provider, mimic, [QUESTION])
    expect(silent).toMatchObject({ text: '', reasoning: shown('Nothing to say.'), calls: [] })
    expect(mimic.refusals).toEqual([])
    expect(mimic.requests.length).toBe(3)
  })
})

const [openAi, , groq, llamaCpp, lmStudio, ollama, vllm] = CASES as Required<Case>[]

test('a refusal has its status, and its words where the provider has them', async () => {
  await using mimic = await startOpenAiChatMimic(STORY)
  const asked = ask({ ...openAi, more: {} } as Case, mimic, [QUESTION])
  await expect(asked).rejects.toMatchObject({ status: 400, param: 'reasoning_effort' })
  expect(mimic.refusals.map(({ rule }) => rule)).toEqual(['tools, unless `reasoning_effort` is `none`'])
})

test('a request without a key is refused', async () => {
  await using mimic = await startOpenAiChatMimic(STORY)
  const response = await fetch(`${mimic.url}/chat/completions`, { method: 'POST', body: '{}' })
  expect(response.status).toBe(401)
  expect((await fetch(`${mimic.url}/none`)).status).toBe(404)
})

test('Groq fails now and then, also in the stream', async () => {
  await using mimic = await startGroqMimic([{ failure: toolUseFailed() }, { failure: toolUseFailed(true) }])
  const ofCode = { code: 'tool_use_failed' }
  await expect(ask(groq as Case, mimic, [QUESTION])).rejects.toMatchObject({ status: 400, ...ofCode })
  await expect(ask(groq as Case, mimic, [QUESTION])).rejects.toMatchObject(ofCode)
})

test('LM Studio refuses in the stream, where it was told to', async () => {
  await using mimic = await startLmStudioMimic(STORY, { refusesInStream: true, context: 10 })
  await expect(ask(lmStudio as Case, mimic, [QUESTION])).rejects.toThrow(
    'Engine protocol predict request returned 400',
  )
})

test('llama.cpp counts what was too long', async () => {
  await using mimic = await startLlamaCppMimic(STORY, { context: 10 })
  await expect(ask(llamaCpp as Case, mimic, [QUESTION])).rejects.toMatchObject({
    error: { type: 'exceed_context_size_error', n_ctx: 10 },
  })
  const props: unknown = await (await fetch(new URL('/props', mimic.url))).json()
  expect(props).toMatchObject({ default_generation_settings: { n_ctx: 10 } })
})

test('Ollama cuts what is too long, and only its count shows it', async () => {
  await using mimic = await startOllamaMimic(() => ({ text: 'Yes' }), { numCtx: 4096 })
  const counts: (number | undefined)[] = []
  for (const words of [10, 40_000, 80_000]) {
    const { usage } = await ask(ollama as Case, mimic, [{ role: 'user', content: 'x'.repeat(words) }])
    counts.push(usage?.prompt_tokens)
  }
  expect(counts.slice(1)).toEqual([2050, 2050])
  expect(counts[0]).toBeLessThan(200)
  const shown: unknown = await (await fetch(new URL('/api/show', mimic.url), { method: 'POST' })).json()
  expect(shown).toMatchObject({
    model_info: { 'qwen3.context_length': 40_960 },
    capabilities: ['completion', 'tools'],
  })
})

test('vLLM leaves out the ids of calls, where it was told to', async () => {
  await using mimic = await startVllmMimic(STORY, { omitsIds: true })
  const { calls } = await ask(vllm as Case, mimic, [QUESTION])
  expect(calls.map(({ id }) => id)).toEqual([undefined, undefined])
})

test('a script that asks for each turn sees the request', async () => {
  await using mimic = await startOpenAiChatMimic(({ body, index }) => ({ text: `${index} ${body['model']}` }))
  expect((await ask(openAi as Case, mimic, [QUESTION])).text).toBe('0 gpt-5.6')
  const again = await ask(openAi as Case, mimic, [QUESTION])
  expect(again.text).toBe('1 gpt-5.6')
  // The request is a repetition, so all of it is cached.
  expect(again.usage?.prompt_tokens_details?.cached_tokens).toBe(again.usage?.prompt_tokens)
})
