import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { createDeadlines } from './deadlines.ts'

/** Returns deadlines of one second, and a list of those that fired. */
function open() {
  const clock = createFakeClock()
  const deadlines = createDeadlines(clock, 1_000)
  const fired: string[] = []
  return { clock, deadlines, fired, set: (name: string) => deadlines.set(() => fired.push(name)) }
}

test('each fires once, after its own delay', () => {
  const { clock, fired, set } = open()
  set('one')
  clock.advance(400)
  set('two')
  clock.advance(599)
  expect(fired).toEqual([])
  clock.advance(1)
  expect(fired).toEqual(['one'])
  clock.advance(400)
  expect(fired).toEqual(['one', 'two'])
  clock.advance(10_000)
  expect(fired).toEqual(['one', 'two'])
})

test('what is cancelled does not fire, and what comes later does', () => {
  const { clock, fired, set } = open()
  const cancel = set('one')
  cancel()
  clock.advance(300)
  set('two')
  clock.advance(999)
  expect(fired).toEqual([])
  clock.advance(1)
  expect(fired).toEqual(['two'])
})

test('one that fires may set another and cancel the next', () => {
  const { clock, deadlines, fired, set } = open()
  deadlines.set(() => {
    fired.push('first')
    cancelSecond()
    set('third')
  })
  const cancelSecond = set('second')
  clock.advance(1_000)
  expect(fired).toEqual(['first'])
  clock.advance(1_000)
  expect(fired).toEqual(['first', 'third'])
})

test('a thousand take one timer, none when nobody waits, and none after disposal', () => {
  const { clock, deadlines, fired, set } = open()
  const cancels = Array.from({ length: 1_000 }, (_, index) => set(String(index)))
  expect(clock.timers).toBe(1)
  for (const cancel of cancels) cancel()
  clock.advance(1_000)
  expect(clock.timers).toBe(0)
  set('last')
  deadlines[Symbol.dispose]()
  expect(clock.timers).toBe(0)
  clock.advance(1_000)
  expect(fired).toEqual([])
  const idle = createDeadlines(clock, 1_000)
  idle[Symbol.dispose]()
  idle.set(() => fired.push('late'))
  expect(clock.timers).toBe(0)
})
