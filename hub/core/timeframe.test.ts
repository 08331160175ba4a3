import { expect, test } from 'vitest'
import { readTimeframe } from './timeframe.ts'

// `NOW` is a Sunday, eleven in the evening in Berlin.
const NOW = Date.parse('2026-11-22T22:00:00Z')
const ZONE = 'Europe/Berlin'
const at = (iso: string) => Date.parse(iso)

test.each([
  ['24h', { since: NOW - 86_400_000 }],
  ['7d', { since: NOW - 7 * 86_400_000 }],
  ['last 2 weeks', { since: NOW - 14 * 86_400_000 }],
  ['past 90 minutes', { since: NOW - 90 * 60_000 }],
  [' Today ', { since: at('2026-11-21T23:00:00Z') }],
  ['yesterday', { since: at('2026-11-20T23:00:00Z'), until: at('2026-11-21T23:00:00Z') }],
  ['this week', { since: at('2026-11-15T23:00:00Z') }],
  ['last week', { since: at('2026-11-08T23:00:00Z') }],
])('%j', (timeframe, expected) => {
  expect(readTimeframe({ timeframe }, NOW, ZONE)).toEqual(expected)
})

test('yesterday begins at midnight also where the clocks changed', () => {
  const monday = at('2026-10-26T11:00:00Z')
  expect(readTimeframe({ timeframe: 'yesterday' }, monday, ZONE)).toEqual({
    since: at('2026-10-24T22:00:00Z'),
    until: at('2026-10-25T23:00:00Z'),
  })
})

test('since and until are ISO 8601; a day alone is meant to its end', () => {
  expect(readTimeframe({ since: '2026-11-01', until: '2026-11-02' }, NOW, ZONE)).toEqual({
    since: at('2026-10-31T23:00:00Z'),
    until: at('2026-11-02T23:00:00Z'),
  })
  expect(readTimeframe({ since: '2026-11-01T08:00:00Z' }, NOW, ZONE)).toEqual({
    since: at('2026-11-01T08:00:00Z'),
  })
  expect(readTimeframe({}, NOW, ZONE)).toEqual({})
})

test.each([
  [{ since: 'soon' }, /^since: "soon" is no ISO 8601 time/],
  [{ until: '2026-02-31' }, /^until: /],
  [{ since: '2026-11-02', until: '2026-11-01' }, /until: must be later/],
  [{ timeframe: 'some day' }, /timeframe: "some day" is not understood; write one such as 24h/],
  [{ timeframe: '7d', since: '2026-11-02' }, /give it alone/],
])('%j is refused', (words, message) => {
  expect(() => readTimeframe(words, NOW, ZONE)).toThrow(message)
})
