import { expect, test } from 'vitest'
import { createIds } from './ids.ts'

test('ids sort by the time they were made, and never meet', () => {
  let now = 0
  const newId = createIds(() => now)
  const ids = [0, 1, 35, 36, 1_795_302_000_000, 4_102_444_799_000].map(at => {
    now = at
    return newId('msg')
  })
  expect(ids.toSorted()).toEqual(ids)
  for (const id of ids) expect(id).toMatch(/^msg_[0-9a-z]{9}[0-9a-f]{16}$/)
  expect(new Set(Array.from({ length: 10_000 }, () => newId('x'))).size).toBe(10_000)
})
