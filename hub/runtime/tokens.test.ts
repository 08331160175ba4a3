import { expect, test } from 'vitest'
import type { HistoryEntry } from '../store/history.ts'
import { createTokenCounter, toAnchor, tokensOfAll } from './tokens.ts'

const entry = (seq: number, words: number): HistoryEntry => ({
  seq,
  content: { role: 'user', text: 'word '.repeat(words), items: [] },
})
const preamble = { system: 'x'.repeat(400), tools: [] }
const FIXED = 102

test("the provider's count is the anchor, and only what came after it is estimated", () => {
  const counter = createTokenCounter()
  const window = [entry(1, 100)]
  const estimate = FIXED + tokensOfAll(window)
  expect(counter.count('m', preamble, window, undefined)).toBe(estimate)
  const usage = { input: estimate, output: 50 }
  const counted = counter.learn('m', { preamble, window, usage })
  expect(counted).toBe(estimate + 50)
  const anchor = toAnchor(counted, 2)
  const next = [...window, entry(2, 40), entry(3, 80)]
  expect(counter.count('m', preamble, next, anchor)).toBe(estimate + 50 + tokensOfAll([entry(3, 80)]))
})

test('a factor is learned for each model and stays within bounds', () => {
  const counter = createTokenCounter()
  const window = [entry(1, 1_000)]
  const estimate = FIXED + tokensOfAll(window)
  const learn = (model: string, input: number) =>
    counter.learn(model, { preamble, window, usage: { input, output: 0 } })
  for (let step = 0; step < 50; step++) {
    learn('more', estimate * 3.5)
    learn('less', estimate * 0.5)
  }
  expect(counter.count('more', preamble, window, undefined)).toBe(Math.ceil(estimate * 2.5))
  expect(counter.count('less', preamble, window, undefined)).toBe(Math.ceil(estimate * 0.8))
  expect(counter.count('other', preamble, window, undefined)).toBe(estimate)
})

test('a count that cannot be is no anchor', () => {
  const counter = createTokenCounter()
  const step = { preamble, window: [entry(1, 1_000)] }
  expect(counter.learn('m', { ...step, usage: { input: 10, output: 5 } })).toBeUndefined()
  expect(counter.learn('m', { ...step, usage: { input: 0, output: 0 } })).toBeUndefined()
  expect(counter.learn('m', { ...step, usage: { input: 40_000, output: 0 } })).toBeUndefined()
})

test('what was saved of a model counts until something is learned of it, within the bounds', () => {
  const counter = createTokenCounter()
  const window = [entry(1, 1_000)]
  const estimate = FIXED + tokensOfAll(window)
  counter.learn('new', { preamble, window, usage: { input: estimate, output: 0 } })
  counter.restore(
    new Map([
      ['saved', 1.5],
      ['new', 1.5],
      ['absurd', 99],
    ]),
  )
  const counts = ['saved', 'new', 'absurd'].map(model => counter.count(model, preamble, window, undefined))
  expect(counts).toEqual([estimate * 1.5, estimate, estimate * 2.5].map(Math.ceil))
})
