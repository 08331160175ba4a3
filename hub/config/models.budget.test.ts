import { expect, test } from 'vitest'
import type { ModelConfig, ModelsConfig } from '../core/model.ts'
import { budgetOf } from './models.ts'

const priced = (input: number, output: number, currency = 'EUR'): ModelConfig => ({
  provider: 'compatible',
  vision: false,
  baseUrl: 'http://localhost/v1',
  model: 'm',
  context: 8_192,
  maxOutput: 512,
  price: { currency, input, cachedInput: input, output },
})
const models = (first: ModelConfig, ...fallback: ModelConfig[]): ModelsConfig => ({
  default: first,
  fallback,
  compaction: undefined,
  named: {},
})

test('what a call costs at most is the highest of each price', () => {
  const model = models(priced(1, 9), priced(3, 2))
  expect(budgetOf({ model, budget: { tokensPerDay: 5 }, configFile: undefined })).toEqual({
    tokensPerDay: 5,
    currency: 'EUR',
    dearest: { currency: 'EUR', input: 3, cachedInput: 3, output: 9 },
    file: 'superbloom.yaml',
  })
})
