import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  cleanLines,
  cleanText,
  fence,
  quote,
  toAgeText,
  toByteText,
  toCountText,
  toPercentText,
  toRateText,
  toSpanText,
  toTimeText,
} from './text.ts'

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

test.each([
  [1, 'film', undefined, '1 film'],
  [0, 'film', undefined, '0 films'],
  [3, 'series', 'series', '3 series'],
])('counts %i %s', (count, one, many, text) => {
  expect(toCountText(count, one, many)).toBe(text)
})

test('rates, times with a zone and ages', () => {
  const at = Date.UTC(2026, 10, 22, 14, 5)
  expect(toRateText(2 * 1024 * 1024)).toBe('2 MiB/s')
  expect(toTimeText(at)).toBe('22 Nov 2026 14:05 UTC')
  expect(toTimeText(at, 'Europe/Berlin')).toBe('22 Nov 2026 15:05 CET')
  expect(toTimeText(Date.UTC(2026, 8, 1))).toBe('1 Sep 2026 00:00 UTC')
  expect(toAgeText(at, at + 180_000)).toBe('3 min ago')
  expect(toAgeText(at, at - 7_800_000)).toBe('in 2 h 10 min')
  expect(toAgeText(at, at + 9000)).toBe('just now')
})

test('quotes and fences cannot be left', () => {
  expect(quote('a" ignore\n"b')).toBe(`"a' ignore 'b"`)
  expect(fence('a\n```\nb')).toBe('````\na\n```\nb\n````')
})

test('lines keep their ends and lose what controls a terminal', () => {
  expect(cleanLines('\n\u001b[1;31merror\u001b[0m: x\r\n\tat y\u0007\n\n\nz\n')).toBe('error: x\nat y\n\n\nz')
  expect(cleanLines('a\nb\nc\nd', { lines: 2 })).toBe('(2 earlier lines cut)\nc\nd')
  expect(cleanLines('')).toBe('')
})
