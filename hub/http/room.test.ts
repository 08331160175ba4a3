import { expect, test } from 'vitest'
import { decideCut } from './room.ts'

test.for<[networks: string, cut: number]>([
  ['a', 0],
  ['abc', 0],
  ['abbc', 1],
  ['abcbcc', 2],
  ['abab', 0],
])('of those that came from %s number %d is cut off', ([networks, cut]) => {
  const inside = [...networks].map((network, number) => ({ network, number }))
  expect(decideCut(inside)?.number).toBe(cut)
})
