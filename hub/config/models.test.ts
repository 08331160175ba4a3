import { expect, test } from 'vitest'
import { configFile } from '../../schemas/config.ts'
import { decideModels } from './models.ts'

type Variables = Record<string, string>
const decide = (variables: Variables, model?: unknown) => {
  const file = model === undefined ? undefined : configFile.parse({ model }).model
  return decideModels(file, name => variables[name], 'superbloom.yaml')
}

test.each<[variables: Variables, provider: string, model: string, key: string | undefined]>([
  [{ SUPERBLOOM_MODEL: 'gpt', OPENAI_API_KEY: 'k' }, 'openai', 'gpt', 'k'],
  [{ SUPERBLOOM_MODEL: 'anthropic/claude', ANTHROPIC_API_KEY: 'k' }, 'anthropic', 'claude', 'k'],
  [{ SUPERBLOOM_MODEL: 'google/gemini', GEMINI_API_KEY: 'k' }, 'google', 'gemini', 'k'],
  [{ SUPERBLOOM_MODEL: 'openrouter/a/b', OPENROUTER_API_KEY: 'k' }, 'openrouter', 'a/b', 'k'],
  [{ SUPERBLOOM_MODEL: 'openai/gpt', OPENAI_API_KEY: 'k' }, 'openai', 'gpt', 'k'],
  [{ SUPERBLOOM_MODEL: 'mistral/m' }, 'openai', 'mistral/m', undefined],
  [{ SUPERBLOOM_MODEL: 'compatible/m', OPENAI_API_KEY: 'k' }, 'openai', 'compatible/m', 'k'],
  [
    { SUPERBLOOM_MODEL: 'mistral/m', MISTRAL_API_KEY: 'k', OPENAI_BASE_URL: 'http://gpu:8000/v1' },
    'compatible',
    'mistral/m',
    undefined,
  ],
  [
    { SUPERBLOOM_MODEL: 'm', OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'https://api.deepseek.com/v1/' },
    'deepseek',
    'm',
    'k',
  ],
])('%j is %s with %s', (variables, provider, model, apiKey) => {
  const { models } = decide(variables)
  expect(models?.default).toMatchObject({ provider, model })
  expect(models?.default.apiKey).toBe(apiKey)
})

test('a prefix whose key is not set is warned of, and so are keys without a model', () => {
  expect(decide({ SUPERBLOOM_MODEL: 'mistral/m' }).warnings).toEqual([
    'SUPERBLOOM_MODEL begins with "mistral/", but MISTRAL_API_KEY is not set: OpenAI is asked for it',
  ])
  expect(decide({ GEMINI_API_KEY: 'k' })).toEqual({
    models: undefined,
    origin: 'default',
    warnings: ['GEMINI_API_KEY set without SUPERBLOOM_MODEL: the built-in commands answer'],
  })
})

test('the model for summaries is of the same provider unless it names another', () => {
  const variables = { SUPERBLOOM_MODEL: 'anthropic/big', ANTHROPIC_API_KEY: 'a', DEEPSEEK_API_KEY: 'd' }
  const compaction = (model: string) =>
    decide({ ...variables, SUPERBLOOM_COMPACTION_MODEL: model }).models?.compaction
  expect(compaction('small')).toMatchObject({ provider: 'anthropic', model: 'small', apiKey: 'a' })
  expect(compaction('deepseek/d')).toMatchObject({ provider: 'deepseek', model: 'd', apiKey: 'd' })
})

test('an entry of the file names a provider or an address, and has its own settings', () => {
  const model = {
    default: { provider: 'mistral', model: 'large', vision: true, timeout: '3m', temperature: 0.2 },
    fallback: [{ baseUrl: 'https://openrouter.ai/api/v1', model: 'a/b' }],
    named: {
      cheap: {
        baseUrl: 'http://gpu/v1',
        model: 'c',
        reasoning: 'none',
        headers: { a: 1 },
        body: { top_k: 4 },
      },
    },
  }
  const { models } = decide({ MISTRAL_API_KEY: 'm', OPENAI_API_KEY: 'o' }, model)
  expect(models).toMatchObject({
    default: {
      provider: 'mistral',
      baseUrl: 'https://api.mistral.ai/v1',
      apiKey: 'm',
      vision: true,
      timeout: 180_000,
      temperature: 0.2,
    },
    fallback: [{ provider: 'openrouter' }],
    named: { cheap: { provider: 'compatible', reasoning: 'none', headers: { a: '1' }, body: { top_k: 4 } } },
  })
  expect(models?.named['cheap']?.apiKey).toBeUndefined()
})

test.each<[variables: Variables, why: string]>([
  [
    { SUPERBLOOM_MODEL: 'anthropic/', ANTHROPIC_API_KEY: 'k' },
    'SUPERBLOOM_MODEL: anthropic/ is not <provider>/<model>',
  ],
  [
    { SUPERBLOOM_MODEL: 'm', SUPERBLOOM_COMPACTION_MODEL: 'anthropic/', ANTHROPIC_API_KEY: 'k' },
    'SUPERBLOOM_COMPACTION_MODEL: anthropic/ is not',
  ],
  [{ SUPERBLOOM_MODEL: 'm', OPENAI_API_KEY: 'a\nb' }, 'OPENAI_API_KEY: must be one line of plain characters'],
  [
    { SUPERBLOOM_MODEL: 'anthropic/m', ANTHROPIC_API_KEY: 'a\u2026' },
    'ANTHROPIC_API_KEY: must be one line of plain characters',
  ],
])('%j is refused, and no key is told', (variables, why) => {
  expect(() => decide(variables)).toThrow(why)
})

test('what surrounds a key is not part of it, and a header may have any text of one line', () => {
  const entry = { provider: 'openai', model: 'm', apiKey: ' k\n', headers: { 'X-Team_1': 'Lab: "é", 1' } }
  expect(decide({}, { default: entry }).models?.default).toMatchObject(entry)
})

test('a context that no variable names is left open, so that the provider is asked for it', () => {
  const variables = { SUPERBLOOM_MODEL: 'm', OPENAI_BASE_URL: 'http://h/v1' }
  expect(decide(variables).models?.default.context).toBeUndefined()
  const given = decide({ ...variables, SUPERBLOOM_MODEL_CONTEXT: '8192' })
  expect(given.models?.default.context).toBe(8_192)
})

test("a provider's key goes to no other address", () => {
  const elsewhere = { provider: 'anthropic', baseUrl: 'https://proxy.example/v1', model: 'm' }
  const { models } = decide({ ANTHROPIC_API_KEY: 'k' }, { default: elsewhere })
  expect(models?.default).toMatchObject({ provider: 'anthropic', baseUrl: 'https://proxy.example/v1' })
  expect(models?.default.apiKey).toBeUndefined()
})

test.each([
  [{ model: 'm' }, 'missing: where the model is asked, or provider (openai, anthropic,'],
  [{ provider: 'compatible', model: 'm' }, 'missing: where the model is asked'],
  [{ provider: 'claude', model: 'm' }, 'openai'],
  [{ provider: 'openai', model: 'm', thinking: true }, 'thinking'],
  [{ provider: 'openai', model: 'm', timeout: '10m' }, 'must be from 1s to 5m'],
  [
    { provider: 'openai', model: 'm', timeout: 600 },
    'must be from 1s to 5m: a bare number is one of seconds',
  ],
  [{ provider: 'openai', model: 'm', timeout: 0.5 }, 'must be from 1s to 5m'],
  [{ provider: 'openai', model: 'm', timeout: '0s' }, 'must be from 1s to 5m'],
  [{ provider: 'openai', model: ' ' }, 'model'],
  [{ provider: 'openai', model: 'm', apiKey: 'sk-a\nsk-b' }, 'must be one line of plain characters'],
  [{ provider: 'openai', model: 'm', apiKey: 'schlüssel€' }, 'must be one line of plain characters'],
  [{ provider: 'openai', model: 'm', headers: { 'x team': 'lab' } }, 'must be letters, digits and -'],
  [{ provider: 'openai', model: 'm', headers: { 'x-team': 'a\r\nb: c' } }, 'must be one line of plain'],
  [{ provider: 'openai', model: 'm', body: { stream: false } }, 'every reply is streamed: leave it out'],
  [{ provider: 'openai', model: 'm', body: { model: 'n' } }, 'write it as model of the entry'],
  [{ provider: 'openai', model: 'm', body: { messages: [] } }, 'the hub writes it: leave it out'],
  [{ provider: 'openai', model: 'm', body: { tools: [] } }, 'the hub writes it: leave it out'],
])('%j is refused', (entry, why) => {
  expect(() => decide({}, { default: entry })).toThrow(why)
  expect(() =>
    decide({}, { default: { provider: 'openai', model: 'm' }, named: { default: entry } }),
  ).toThrow()
})
