import { describe, expect, it } from 'vitest'
import { knownModel } from './known-models.ts'

describe('the table of models', () => {
  it.each([
    ['openai', 'gpt-6-luna', 0.1],
    ['openai', 'gpt-5.4-2026-03-05', 2.5],
    ['openai', 'gpt-5.4-mini', 0.75],
    ['anthropic', 'claude-haiku-4-5-20251001', 1],
    ['anthropic', 'claude-opus-4-8', 5],
    ['anthropic', 'claude-opus-5-5', 4],
    ['google', 'gemini-3.1-pro-preview', 2],
    ['mistral', 'mistral-small-2603', 0.15],
    ['mistral', 'mistral-medium-latest', 1.5],
    ['deepseek', 'deepseek-flash', 0.3],
  ])('knows %s %s', (provider, model, input) => {
    expect(knownModel(provider, model)?.price).toMatchObject({ currency: 'USD', input })
  })

  it.each([
    ['openai', 'gpt-5-pro'],
    ['openai', 'gpt-5.4-mini-turbo'],
    ['google', 'gemini-2.5-flash-image'],
    ['mistral', 'mistral-large-2411'],
    ['compatible', 'gpt-5.4'],
    ['openrouter', 'claude-opus-5-5'],
  ])('says nothing of %s %s, whose price may be another', (provider, model) => {
    expect(knownModel(provider, model)).toBeUndefined()
  })

  it('has room for a reply beside a request', () => {
    expect(knownModel('anthropic', 'claude-sonnet-4-5')).toEqual({
      context: 200_000,
      maxOutput: 64_000,
      vision: true,
      price: { currency: 'USD', input: 3, cachedInput: 0.3, output: 15 },
    })
  })
})
