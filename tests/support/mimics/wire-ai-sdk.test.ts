import { createAnthropic } from '@ai-sdk/anthropic'
import { createDeepSeek } from '@ai-sdk/deepseek'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createMistral } from '@ai-sdk/mistral'
import { createOpenAI } from '@ai-sdk/openai'
import { describe, expect, test } from 'vitest'
import { startAnthropicMimic } from './anthropic.ts'
import { startDeepSeekMimic } from './deepseek.ts'
import { startGoogleMimic } from './google.ts'
import type { Mimic, Script } from './mimic.ts'
import { startMistralMimic } from './mistral.ts'
import { startOpenAiResponsesMimic } from './openai-responses.ts'
import { STORY } from './stories.ts'

type Model = ReturnType<ReturnType<typeof createAnthropic>['languageModel']>
type CallOptions = Parameters<Model['doStream']>[0]
type Prompt = CallOptions['prompt']
type Metadata = { providerMetadata?: unknown }

interface Case {
  name: string
  start(script: Script): Promise<Mimic>
  open(url: string): Model
  providerOptions?: NonNullable<CallOptions['providerOptions']>
  /** The part of the reply that the provider must get back unchanged. */
  sendsBack: string
}

const apiKey = 'sk-mimic'

const CASES: Case[] = [
  {
    name: 'openai-responses',
    start: startOpenAiResponsesMimic,
    sendsBack: '"encrypted_content":"gAAAAAB',
    open: baseURL => createOpenAI({ baseURL, apiKey }).responses('gpt-5.6'),
    providerOptions: {
      openai: { store: false, include: ['reasoning.encrypted_content'], reasoningEffort: 'low' },
    },
  },
  {
    name: 'anthropic',
    start: startAnthropicMimic,
    sendsBack: '"thinking":"Both clocks.","signature":"EqQB',
    open: baseURL => createAnthropic({ baseURL, apiKey }).languageModel('claude-sonnet-4-5'),
    providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } } },
  },
  {
    name: 'google',
    start: startGoogleMimic,
    sendsBack: '"thoughtSignature":"EpEgCo4gAb4',
    open: baseURL => createGoogleGenerativeAI({ baseURL, apiKey }).languageModel('gemini-3-pro-preview'),
  },
  {
    name: 'mistral',
    start: startMistralMimic,
    sendsBack: '"thinking":[{"type":"text","text":"Both clocks."}]',
    open: baseURL => createMistral({ baseURL, apiKey }).languageModel('magistral-medium-latest'),
  },
  {
    name: 'deepseek',
    start: startDeepSeekMimic,
    sendsBack: '"reasoning_content":"Both clocks."',
    open: baseURL => createDeepSeek({ baseURL, apiKey }).languageModel('deepseek-v4-pro'),
  },
]

const TOOLS: NonNullable<CallOptions['tools']> = [
  {
    type: 'function',
    name: 'get_time',
    description: 'The time',
    inputSchema: { type: 'object', properties: { at: { type: 'string' } } },
  },
]

const QUESTION: Prompt[number] = { role: 'user', content: [{ type: 'text', text: 'What time is it?' }] }

/** Reads a whole reply, in the form in which the package takes it back. */
async function ask({ providerOptions }: Case, model: Model, prompt: Prompt) {
  const { stream } = await model.doStream({
    prompt,
    tools: TOOLS,
    maxOutputTokens: 4096,
    ...(providerOptions ? { providerOptions } : {}),
  })
  const parts = new Map<string, Record<string, unknown>>()
  const withMetadata = ({ providerMetadata }: Metadata) =>
    providerMetadata === undefined ? {} : { providerOptions: providerMetadata }
  const grow = (id: string, type: string, delta: string, part: Metadata) => {
    const before = parts.get(`${type} ${id}`) ?? { type, text: '' }
    parts.set(`${type} ${id}`, { ...before, text: `${before['text']}${delta}`, ...withMetadata(part) })
  }
  let usage: unknown
  for await (const part of stream) {
    if (part.type === 'error') throw part.error
    if (part.type === 'text-start' || part.type === 'text-end') grow(part.id, 'text', '', part)
    if (part.type === 'text-delta') grow(part.id, 'text', part.delta, part)
    if (part.type === 'reasoning-start' || part.type === 'reasoning-end') grow(part.id, 'reasoning', '', part)
    if (part.type === 'reasoning-delta') grow(part.id, 'reasoning', part.delta, part)
    if (part.type === 'tool-call')
      parts.set(part.toolCallId, {
        type: 'tool-call',
        toolCallId: part.toolCallId,
        toolName: part.toolName,
        input: JSON.parse(part.input),
        ...withMetadata(part),
      })
    if (part.type === 'finish') usage = part.usage
  }
  const content = [...parts.values()]
  const textOf = (type: string) =>
    content.flatMap(part => (part['type'] === type ? [part['text']] : [])).join('')
  return {
    content,
    text: textOf('text'),
    reasoning: textOf('reasoning'),
    calls: content.filter(part => part['type'] === 'tool-call'),
    usage,
  }
}

/** Returns the history after the calls, in the package's form. */
function answer(content: readonly Record<string, unknown>[]): Prompt {
  const results = content
    .filter(part => part['type'] === 'tool-call')
    .map(({ toolCallId, toolName }) => ({
      type: 'tool-result',
      toolCallId,
      toolName,
      output: { type: 'text', value: 'noon' },
    }))
  return [QUESTION, { role: 'assistant', content }, { role: 'tool', content: results }] as Prompt
}

describe.each(CASES)('$name, read by the package of the AI SDK', provider => {
  test('plays parallel calls, the reply after their results, and a silent reply', async () => {
    await using mimic = await provider.start(STORY)
    const model = provider.open(mimic.url)
    const called = await ask(provider, model, [QUESTION])
    expect(called).toMatchObject({ text: 'I look.', reasoning: 'Both clocks.' })
    expect(called.calls.map(({ input }) => input)).toEqual([{ at: 'home' }, { at: 'sea' }])
    expect(called.usage).toMatchObject({
      inputTokens: { total: 120, cacheRead: 40 },
      outputTokens: { total: 7 },
    })
    const replied = await ask(provider, model, answer(called.content))
    expect(replied).toMatchObject({ text: 'It is noon.', calls: [] })
    expect(JSON.stringify(mimic.requests[1])).toContain(provider.sendsBack)
    const silent = await ask(provider, model, [QUESTION])
    expect(silent).toMatchObject({ text: '', reasoning: 'Nothing to say.', calls: [] })
    expect(mimic.refusals).toEqual([])
    expect(mimic.requests.length).toBe(3)
  })

  test('refuses in a form that the package reads', async () => {
    await using mimic = await provider.start(STORY)
    const orphan = answer([{ type: 'tool-call', toolCallId: 'abcdef123', toolName: 'get_time', input: {} }])
    const [question, , results] = orphan
    const failed = ask(provider, provider.open(mimic.url), [question, results] as Prompt)
    const error = await failed.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    const [refusal] = mimic.refusals
    expect(refusal?.status).toBe(400)
    expect(error).toMatchObject({ statusCode: 400, responseBody: JSON.stringify(refusal?.body) })
  })
})
