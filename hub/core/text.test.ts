import { expect, test } from 'vitest'
import { plural, stripControl, toSentence, toSpan, truncate } from './text.ts'

test('control characters go, line ends and tabs stay', () => {
  expect(stripControl('a\u0000\u001b[2J\tb\r\nc\u007f\u009bd é 漢')).toBe('a[2J\tb\r\ncd é 漢')
})

test('what was cut is said', () => {
  expect([truncate('abc', 3), truncate('abcdef', 3)]).toEqual(['abc', 'abc… (3 more characters)'])
})

test('one event, other counts of events', () => {
  expect([0, 1, 2].map(count => plural(count, 'event'))).toEqual(['0 events', '1 event', '2 events'])
})

test.for([
  [-5, '0 s'],
  [499, '0 s'],
  [12_000, '12 s'],
  [59_499, '59 s'],
  [59_500, '1 min'],
  [300_000, '5 min'],
  [3_569_000, '59 min'],
  [3_600_000, '1 h'],
  [7_800_000, '2 h 10 min'],
  [47 * 3_600_000, '47 h'],
  [72 * 3_600_000, '3 d'],
] as const)('%i ms is %s', ([span, text]) => expect(toSpan(span)).toBe(text))

test('a sentence ends once', () => {
  expect([
    toSentence('It is down'),
    toSentence('Is it?'),
    toSentence('It said "no such model"'),
    toSentence('Down.'),
  ]).toEqual(['It is down.', 'Is it?', 'It said "no such model".', 'Down.'])
})
