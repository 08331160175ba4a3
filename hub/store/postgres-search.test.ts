import { expect, test } from 'vitest'
import { toIndexed } from './postgres-search.ts'

test.each([
  ['Die Straße, café: 10.0.0.1!', "'die':1 'straße':2 'cafe':3 '10':4 '0':5 '0':6 '1':7"],
  ["O'Brien\\ & (a | b) <-> !c:*", "'o':1 'brien':2 'a':3 'b':4 'c':5"],
  ['— … !', ''],
])('%j is indexed as %s', (text, indexed) => {
  expect(toIndexed(text)).toBe(indexed)
})

test('of a long text the first megabyte is indexed, and a long word in part', () => {
  const words = toIndexed(`${'x'.repeat(5_000)} ${'word '.repeat(500_000)}`).split(' ')
  expect(words[0]).toBe(`'${'x'.repeat(500)}':1`)
  expect(words.length).toBeGreaterThan(80_000)
  expect(words.length).toBeLessThan(100_000)
  expect(words[15_999]).toBe("'word':16000")
  expect(words[16_000]).toBe("'word':1")
})
