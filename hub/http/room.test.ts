import { expect, test } from 'vitest'
import { decideCut } from './room.ts'

test.for<[addresses: string, cut: number]>([
  ['a', 0],
  ['abc', 0],
  ['abbc', 1],
  ['abcbcc', 2],
  ['abab', 0],
])('of those that came from %s number %d is cut off', ([addresses, cut]) => {
  const inside = [...addresses].map((address, number) => ({ address, number }))
  expect(decideCut(inside)?.number).toBe(cut)
})
