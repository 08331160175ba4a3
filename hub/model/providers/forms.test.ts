import { expect, it } from 'vitest'
import { providers } from './index.ts'

it.each([
  ['openrouter', 'mistralai/devstral-medium', { callIds: 'nine', bridge: true }],
  ['openrouter', 'google/gemini-3-pro', { callIds: 'any', foreignCall: 'gemini-details' }],
  ['openrouter', 'deepseek/deepseek-v4', { foreignCall: 'empty-reasoning' }],
  ['openrouter', 'openai/gpt-5.4', { callIds: 'plain', foreignCall: 'nothing', bridge: false }],
  ['compatible', 'Mixtral-8x7B', { callIds: 'nine', bridge: true }],
  ['compatible', 'kimi-k2-thinking', { callIds: 'any', foreignCall: 'empty-reasoning' }],
  ['compatible', 'models/gemini-3-pro', { foreignCall: 'gemini-placeholder' }],
  ['compatible', 'qwen3:14b', { callIds: 'plain', foreignCall: 'nothing', reasoning: 'calls' }],
] as const)('%s asks %s in its way', (provider, model, history) => {
  const form = providers[provider].form({ provider, baseUrl: 'http://h/v1', model, vision: true })
  expect(form).toMatchObject({ family: `${provider}/${model} at http://h/v1`, history })
})

it.each(Object.entries(providers))('%s sees pictures only where the model does', (provider, { form }) => {
  const imagesOf = (vision: boolean) =>
    form({ provider, baseUrl: 'http://h', model: 'm', vision }).history.images
  expect(imagesOf(false)).toBe('none')
  expect(imagesOf(true)).not.toBe('none')
})
