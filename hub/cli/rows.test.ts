import { expect, test } from 'vitest'
import { heightOf, toRows } from './rows.ts'

test.each([
  ['', ['']],
  ['one two three four', ['one two', 'three four']],
  ['one two ', ['one two ']],
  ['one\ntwo\n', ['one', 'two', '']],
  ['a https://hub.home/long tail', ['a', 'https://hub.home/long', 'tail']],
  ['日本語日本語', ['日本語日本', '語']],
  ['ab日本語日本', ['ab日本語日', '本']],
  [
    'e\u0301e\u0301e\u0301e\u0301e\u0301 e\u0301e\u0301e\u0301e\u0301',
    ['e\u0301e\u0301e\u0301e\u0301e\u0301 e\u0301e\u0301e\u0301e\u0301'],
  ],
  ['\tindented text', ['    indented', 'text']],
])('%j in 10 columns', (text, rows) => {
  expect(toRows(text, 10)).toEqual(rows)
})

test('a word that is wider than the terminal takes several rows', () => {
  expect([heightOf('', 10), heightOf('x'.repeat(10), 10), heightOf('日'.repeat(6), 10)]).toEqual([0, 1, 2])
})
