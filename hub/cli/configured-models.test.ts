import { expect, it } from 'vitest'
import { chooseModel, listConfigured } from './configured-models.ts'

const entry = (model: string) => ({
  provider: 'compatible' as const,
  baseUrl: 'http://x/v1',
  model,
  context: 8_192,
  maxOutput: 512,
})
const configured = listConfigured({
  default: entry('big'),
  fallback: [entry('other')],
  compaction: entry('small'),
  named: { cheap: entry('tiny') },
})
const servers = [
  { baseUrl: 'http://empty/v1', models: [] },
  { baseUrl: 'http://a/v1', models: ['qwen3:8b', 'big'] },
]

it('lists every configured model by a name', () => {
  expect(configured.map(({ name, entry: { model } }) => `${name}: ${model}`)).toEqual([
    'default: big',
    'fallback 1: other',
    'compaction: small',
    'cheap: tiny',
  ])
  expect(listConfigured(undefined)).toEqual([])
})

it.each([
  [undefined, configured, 'http://x/v1', 'big'],
  ['cheap', configured, 'http://x/v1', 'tiny'],
  ['other', configured, 'http://x/v1', 'other'],
  ['qwen3:8b', configured, 'http://a/v1', 'qwen3:8b'],
  [undefined, [], 'http://a/v1', 'qwen3:8b'],
  ['big', [], 'http://a/v1', 'big'],
])('chooses %s', (wanted, from, baseUrl, model) => {
  expect(chooseModel(wanted, from, servers)).toMatchObject({ baseUrl, model })
})

it('chooses none that is not there', () => {
  expect(chooseModel('nothing', configured, servers)).toBeUndefined()
  expect(chooseModel(undefined, [], [])).toBeUndefined()
})
