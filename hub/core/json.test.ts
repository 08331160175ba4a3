import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJson, toCanonicalJson, withoutNul } from './json.ts'

test('equal values have equal texts, whatever the order of their keys', () => {
  expect(toCanonicalJson({ b: [{ d: 1, c: null }], a: 'x' })).toBe('{"a":"x","b":[{"c":null,"d":1}]}')
  const turn = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(turn)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, inner]) => [key, turn(inner)]),
    )
  }
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      expect(toCanonicalJson(turn(value))).toBe(toCanonicalJson(value))
      expect(JSON.stringify(JSON.parse(toCanonicalJson(value)))).toBe(toCanonicalJson(value))
    }),
  )
})

test('what is no JSON is undefined', () => {
  expect(['{"a":1}', 'null', '', '{', "{'a':1}", 'NaN'].map(parseJson)).toEqual([
    { a: 1 },
    null,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test('texts and keys lose their NUL characters, and nothing else changes', () => {
  const value = { 'a\0b': ['\0', { c: 'x\0y' }], d: null, e: undefined, f: [1, true], g: '\u0001' }
  const clean = { ab: ['', { c: 'xy' }], d: null, e: undefined, f: [1, true], g: '\u0001' }
  expect([withoutNul(value), withoutNul('a\0'), withoutNul(null), withoutNul(1)]).toStrictEqual([
    clean,
    'a',
    null,
    1,
  ])
})
