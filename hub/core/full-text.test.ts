import fc from 'fast-check'
import { expect, test } from 'vitest'
import { holdsPhrases, toPhrases, toSnippet } from './full-text.ts'

test.each([
  ['disk full', ['disk', 'full']],
  ['  ATM-10\tdown ', ['ATM 10', 'down']],
  ['"quoted" AND NEAR(x, 2)*', ['quoted', 'AND', 'NEAR x', '2']],
  ['!!! ??', []],
  ['', []],
  ['Größe café', ['Größe', 'café']],
])('%j is looked for as %j', (query, phrases) => {
  expect(toPhrases(query)).toEqual(phrases)
})

test.each([
  ['The disk is full', 'disk full', true],
  ['The disk is full', 'full DISK', true],
  ['The disk is full', 'disk empty', false],
  ['The disks are full', 'disk full', false],
  ['The disk is fullish', 'disk full', true],
  ['server atm-10 stopped', 'ATM-10', true],
  ['server 10 atm', 'ATM-10', false],
  ['Die Größe im CAFÉ', 'grosse cafe', false],
  ['Die Größe im CAFÉ', 'größe cafe', true],
])('%j holds all of %j: %s', (text, query, expected) => {
  expect(holdsPhrases(text, toPhrases(query), 'all')).toBe(expected)
})

test('a snippet shows the first match with what stands around it, on one line', () => {
  const text = `${'before '.repeat(40)}\nthe needle is here\n${'after '.repeat(60)}`
  const snippet = toSnippet(text, ['needle'])
  expect(snippet).toMatch(/^….*the needle is here after .*…$/)
  expect(snippet.length).toBeLessThan(240)
  expect(toSnippet('short', ['nothing'])).toBe('short')
})

test('whatever the text and the words are, a snippet is well formed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (text, query) => {
      const phrases = toPhrases(query)
      expect(toSnippet(`${text} ${query}`, phrases).isWellFormed()).toBe(true)
      expect(phrases.every(phrase => phrase.trim() !== '')).toBe(true)
    }),
  )
})
