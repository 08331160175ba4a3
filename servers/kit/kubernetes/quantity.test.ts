import { expect, test } from 'vitest'
import { toQuantity } from './quantity.ts'

test.each([
  ['0', 0],
  ['1', 1],
  ['250m', 0.25],
  ['1500000n', 0.0015],
  ['12u', 0.000012],
  ['64Mi', 67_108_864],
  ['1.5Gi', 1_610_612_736],
  ['2k', 2000],
  ['3M', 3_000_000],
  ['1e3', 1000],
  ['2E', 2e18],
])('%s', (text, value) => {
  expect(toQuantity(text)).toBe(value)
})

test.each(['', 'x', '1 Mi', '1Xi', 'Mi'])('%j is none', text => {
  expect(toQuantity(text)).toBeUndefined()
})
