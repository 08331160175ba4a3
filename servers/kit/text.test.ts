import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cleanText, toByteText, toPercentText, toSpanText } from './text.ts'

test.each([
  ['java', 'java'],
  ['evil\u001b[31m\r\nname', 'evil [31m name'],
  ['\u202egnp.exe', 'gnp.exe'],
  ['a\u2028b', 'a b'],
  ['zero\u200bwidth', 'zero width'],
  ['half \ud83d', 'half \ufffd'],
  ['größe ✓', 'größe ✓'],
])('cleans %j to %j', (text, clean) => {
  expect(cleanText(text)).toBe(clean)
})

test('clean text has no control characters, is well-formed and never longer than asked', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.integer({ min: 1, max: 100 }),
      (text, max) => {
        const clean = cleanText(text, max)
        expect(clean.length).toBeLessThanOrEqual(max)
        expect(clean).not.toMatch(/\p{Cc}/u)
        expect(clean.isWellFormed()).toBe(true)
      },
    ),
  )
})

test.each([
  [0, '0 B'],
  [812, '812 B'],
  [1023, '1023 B'],
  [1024, '1 KiB'],
  [3.14 * 2 ** 30, '3.1 GiB'],
  [252 * 2 ** 30, '252 GiB'],
  [2 ** 40 - 1, '1 TiB'],
  [2 ** 60, '1024 PiB'],
])('%d bytes are %j', (bytes, text) => {
  expect(toByteText(bytes)).toBe(text)
})

test.each([
  [0, '0 %'],
  [7.44, '7.4 %'],
  [41, '41 %'],
  [99.96, '100 %'],
])('%d is %j', (percent, text) => {
  expect(toPercentText(percent)).toBe(text)
})

test.each([
  [0, '0 s'],
  [59.9, '59 s'],
  [60, '1 min'],
  [3600 * 2 + 600, '2 h 10 min'],
  [86_400 * 3 + 3600 * 4, '3 d 4 h'],
])('%d seconds are %j', (seconds, text) => {
  expect(toSpanText(seconds)).toBe(text)
})
