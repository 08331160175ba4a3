import fc from 'fast-check'
import { expect, test } from 'vitest'
import { splitText } from './split.ts'

test('a text is cut at paragraphs, lines and words', () => {
  expect(splitText(`${'a'.repeat(40)}\n\n${'b'.repeat(40)}`, 70)).toEqual(['a'.repeat(40), 'b'.repeat(40)])
  expect(splitText(`${'a'.repeat(40)} ${'b'.repeat(40)}`, 70)).toEqual(['a'.repeat(40), 'b'.repeat(40)])
  expect(splitText('a'.repeat(100), 70)).toEqual(['a'.repeat(58), 'a'.repeat(42)])
  expect(splitText('  \n ')).toEqual([])
})

test('a code block ends in its message, and goes on in the next with its language', () => {
  const lines = Array.from({ length: 6 }, (_, index) => `line ${index} of it`)
  const parts = splitText(`See:\n\`\`\`yaml\n${lines.join('\n')}\n\`\`\`\nDone.`, 70)
  expect(parts[0]).toBe('See:\n```yaml\nline 0 of it\nline 1 of it\nline 2 of it\n```')
  expect(parts[1]).toMatch(/^```yaml\nline 3 of it/)
  for (const part of parts) expect((part.match(/```/g) ?? []).length % 2, part).toBe(0)
})

test('no part is too long or empty, and no letter is lost', () => {
  const piece = fc.constantFrom('```', '```js\n', '~~~~\n', '\n', '\n\n', ' ', 'word', '😀', 'x'.repeat(90))
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 80 }), pieces => {
      const text = pieces.join('')
      const parts = splitText(text, 100)
      for (const part of parts) {
        expect(part.length).toBeGreaterThan(0)
        expect(part.length).toBeLessThanOrEqual(100)
        expect(part.isWellFormed()).toBe(true)
      }
      const letters = (given: string) => given.replace(/[^wordx😀]/gu, '')
      expect(letters(parts.join('')).length).toBeGreaterThanOrEqual(letters(text).length)
    }),
  )
})
