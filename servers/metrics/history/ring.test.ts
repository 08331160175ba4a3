import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRing } from './ring.ts'

const SIZE = { step: 10, size: 4 }

test('a ring keeps the means of its newest steps, and null where nothing was measured', () => {
  const ring = createRing(SIZE)
  expect(ring.read(100, 40)).toEqual([null, null, null, null])
  ring.add(1, 100)
  ring.add(4, 109)
  ring.add(7, 125)
  expect(ring.read(125, 40)).toEqual([null, 2.5, null, 7])
  expect(ring.read(139, 20)).toEqual([7, null])
  ring.add(9, 165)
  expect(ring.read(165, 1000)).toEqual([null, null, null, 9])
  expect([ring.isOver(199), ring.isOver(200)]).toEqual([false, true])
})

test('a clock that was set back adds nothing', () => {
  const ring = createRing(SIZE)
  ring.add(1, 100)
  ring.add(9, 50)
  expect(ring.read(100, 10)).toEqual([1])
})

test('a ring that is read back knows what it knew, and goes on', () => {
  const added = fc.array(fc.tuple(fc.nat(30), fc.integer({ min: -40, max: 125 })), { maxLength: 30 })
  fc.assert(
    fc.property(added, all => {
      const ring = createRing(SIZE)
      let now = 1000
      for (const [pause, value] of all) {
        now += pause
        ring.add(value, now)
      }
      const again = createRing(SIZE, JSON.parse(JSON.stringify(ring.state())))
      expect(again.read(now, 40)).toEqual(ring.read(now, 40))
      again.add(5, now + 10)
      expect(again.read(now + 10, 10)).toEqual([5])
    }),
  )
})
