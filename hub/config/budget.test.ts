import { expect, test } from 'vitest'
import { budgetOf, checkMoney, hasPrices } from './budget.ts'
import type { ModelConfig, ModelsConfig } from './load.ts'

const priced = (input: number, output: number, currency = 'EUR'): ModelConfig => ({
  baseUrl: 'http://localhost/v1',
  model: 'm',
  context: 8_192,
  maxOutput: 512,
  price: { currency, input, cachedInput: input, output },
})
const { price: _, ...unpriced } = priced(1, 1)
const models = (first: ModelConfig, ...fallback: ModelConfig[]): ModelsConfig => ({
  default: first,
  fallback,
  compaction: undefined,
})

test.each([
  ['no model', undefined, false],
  ['one with a price', models(priced(1, 2)), true],
  ['one without', models(unpriced), false],
  ['a fallback without', models(priced(1, 2), unpriced), false],
  ['another currency', models(priced(1, 2), priced(1, 2, 'USD')), false],
  ['a summary model without', { ...models(priced(1, 2)), compaction: unpriced }, false],
] as const)('prices of %s', (_name, model, expected) => {
  expect(hasPrices({ model })).toBe(expected)
  const check = () => checkMoney({ model, budget: { moneyPerDay: 1 }, configFile: 'x.yaml' })
  if (expected) expect(check).not.toThrow()
  else expect(check).toThrow('x.yaml: budget.moneyPerDay: needs model.default with a price')
  expect(() => checkMoney({ model, budget: {}, configFile: undefined })).not.toThrow()
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
