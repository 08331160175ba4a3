import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diffLines } from './line-diff.ts'

const show = (before: string, after: string) =>
  diffLines(before, after).map(({ kind, text }) => `${{ same: ' ', removed: '-', added: '+' }[kind]}${text}`)

test('a changed line is removed and added between the lines that stay', () => {
  expect(show('a\nb\nc', 'a\nx\nc')).toEqual([' a', '-b', '+x', ' c'])
  expect(show('a\nb', 'a\nb')).toEqual([' a', ' b'])
  expect(show('a\nb\nc\nd', 'b\nc\nq\nd')).toEqual(['-a', ' b', ' c', '+q', ' d'])
})

test('both texts can be read from it, and equal texts have no difference', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }).map(lines => lines.join('\n'))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diffLines(before, after)
      const read = (other: string) =>
        lines
          .filter(({ kind }) => kind !== other)
          .map(line => line.text)
          .join('\n')
      expect(read('added')).toBe(before)
      expect(read('removed')).toBe(after)
      expect(lines.some(({ kind }) => kind !== 'same')).toBe(before !== after)
    }),
  )
})
