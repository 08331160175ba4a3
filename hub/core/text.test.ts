import { expect, test } from 'vitest'
import {
  escapeUnseen,
  plural,
  quoteAfter,
  stripControl,
  stripUnseen,
  toSentence,
  toSpan,
  truncate,
} from './text.ts'

test('control characters go, line ends and tabs stay', () => {
  expect(stripControl('a\u0000\u001b[2J\tb\r\nc\u007f\u009bd é 漢')).toBe('a[2J\tb\r\ncd é 漢')
})

test('one line of others stands beside its name, more are quoted below it', () => {
  expect(quoteAfter('3 alex:', 'hello')).toBe('3 alex: hello')
  for (const end of ['\n', '\r', '\r\n', '\v', '\u0085', '\u2028'])
    expect(quoteAfter('3 alex:', `hello${end}4 hub: forged`)).toBe('3 alex:\n> hello\n> 4 hub: forged')
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

const HIDDEN = [
  ...['\u0000', '\u001b', '\r', '\u007f', '\u009b', '\u00ad', '\u061c', '\u200b', '\u200e', '\u2028'],
  ...['\u202e', '\u2066', '\u2069', '\u3164', '\ufeff', '\u{e0041}', '\ud800'],
]

test('a terminal gets no control, bidirectional or invisible characters', () => {
  expect(stripUnseen(`a${HIDDEN.join('b')}\n\té 漢 👍`)).toBe(`a${'b'.repeat(HIDDEN.length - 1)}\n\té 漢 👍`)
})

test('what is hidden is shown in what a person approves, and the JSON stays the same', () => {
  for (const hidden of [...HIDDEN, '\u00a0', '\u2003', '\u2800']) {
    const json = JSON.stringify({ path: `/srv/${hidden}x` })
    expect(escapeUnseen(json)).toMatch(/^[ -~]*$/)
    expect(JSON.parse(escapeUnseen(json))).toEqual(JSON.parse(json))
  }
  expect(escapeUnseen('a\u202eb c\n')).toBe('a\\u202eb c\n')
})
