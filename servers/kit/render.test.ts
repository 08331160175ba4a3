import { expect, test } from 'vitest'
import { known, toFacts, toFindingText, toLines, toListText } from './render.ts'
import { toByteText } from './text.ts'

test('leaves out what is not there, at any depth', () => {
  const text = toLines(['2 alerts:', ['- a', ['- b']], undefined, false, '', [], 'That is all.'])
  expect(text).toBe('2 alerts:\n- a\n- b\nThat is all.')
})

test('joins the facts that are known', () => {
  expect(toFacts(['running', known(undefined, toByteText), false, known(1024, toByteText)])).toBe(
    'running, 1 KiB',
  )
})

test.each([
  [['a', 'b', 'c'], 3, undefined, 'a, b, c'],
  [['a', 'b', 'c'], 2, undefined, 'a, b and 1 more'],
  [['a', 'b'], 2, 9, 'a, b and 7 more'],
  [[], 2, 0, ''],
])('the list of %j, at most %i of %s', (texts, most, total, expected) => {
  expect(toListText(texts, most, text => text, total)).toBe(expected)
})

test('numbers a finding, and puts its evidence and what to do below it', () => {
  const finding = { finding: 'It is full.', evidence: ['8 of 8 players.'], whatToDo: 'Raise the limit.' }
  expect(toFindingText(finding, 1)).toBe(
    '2. It is full.\n   8 of 8 players.\n   What to do: Raise the limit.',
  )
})
