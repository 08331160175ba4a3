import fc from 'fast-check'
import { expect, test } from 'vitest'
import { heldMemory } from '../../../tests/support/heap.ts'
import { createLineCutter } from './lines.ts'

function cut(chunks: readonly string[], longest = 1_000) {
  const lines: string[] = []
  const cutter = createLineCutter(longest)
  for (const chunk of chunks) cutter.cut(Buffer.from(chunk), line => lines.push(line.toString()))
  return { lines, overlong: cutter.overlong }
}

test('however bytes arrive, the lines are the same', () => {
  const pieces = fc.array(fc.stringMatching(/^[ab\n]{0,6}$/))
  fc.assert(
    fc.property(pieces, chunks => {
      expect(cut(chunks).lines).toEqual(chunks.join('').split('\n').slice(0, -1))
    }),
  )
})

test('a character that two chunks share stays whole', () => {
  const bytes = Buffer.from('ä\n')
  const lines: string[] = []
  const cutter = createLineCutter(10)
  for (const byte of bytes) cutter.cut(Buffer.of(byte), line => lines.push(line.toString()))
  expect(lines).toEqual(['ä'])
})

test('of a line that is too long only the beginning is kept, and the next one is whole', () => {
  expect(cut(['abc', 'def'], 4)).toEqual({ lines: [], overlong: true })
  expect(cut(['abc', 'def', 'g\nnext\n'], 4)).toEqual({ lines: ['abcd', 'next'], overlong: true })
  expect(cut(['abcdefg\nnext\n'], 4)).toEqual({ lines: ['abcd', 'next'], overlong: true })
  expect(cut(['abcd\n'], 4)).toEqual({ lines: ['abcd'], overlong: false })
})

test('a line that comes byte by byte takes little more than its bytes', () => {
  const before = heldMemory()
  const cutter = createLineCutter(1_000_000)
  for (let count = 0; count < 500_000; count++) cutter.cut(Buffer.of(0x78), () => undefined)
  expect(heldMemory() - before).toBeLessThan(10_000_000)
  const lengths: number[] = []
  expect(cutter.cut(Buffer.from('\n'), line => lengths.push(line.length))).toBe(1)
  expect(lengths).toEqual([500_000])
})
