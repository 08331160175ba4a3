import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { createVigil } from './vigil.ts'

/** A vigil whose process goes round when a test says so. */
function createWatched() {
  const clock = createFakeClock()
  let next: (() => void) | undefined
  const vigil = createVigil(clock, run => {
    next = run
  })
  return {
    vigil,
    clock,
    /** Whether the process would not sleep; goes round once. */
    goRound() {
      const run = next
      next = undefined
      run?.()
      return run !== undefined
    },
    /** One request alone that takes so many milliseconds. */
    ask(took: number) {
      vigil.sent()
      clock.advance(took)
      vigil.over()
    },
  }
}

test('after a quick answer the next one is waited for awake, until it is there', () => {
  const { vigil, goRound, ask } = createWatched()
  ask(0.2)
  expect(goRound()).toBe(false)
  vigil.sent()
  expect(goRound()).toBe(true)
  expect(goRound()).toBe(true)
  vigil.over()
  expect(goRound()).toBe(true)
  expect(goRound()).toBe(false)
})

test('an answer that takes longer is waited for asleep, and so is the next one', () => {
  const { vigil, clock, goRound, ask } = createWatched()
  ask(0.2)
  vigil.sent()
  clock.advance(0.4)
  expect(goRound()).toBe(true)
  clock.advance(0.2)
  expect(goRound()).toBe(true)
  expect(goRound()).toBe(false)
  vigil.over()
  vigil.sent()
  expect(goRound()).toBe(false)
})

test('several at once are waited for asleep', () => {
  const { vigil, goRound, ask } = createWatched()
  ask(0.2)
  vigil.sent()
  vigil.sent()
  expect(goRound()).toBe(true)
  expect(goRound()).toBe(false)
  vigil.over()
  vigil.over()
  vigil.sent()
  expect(goRound()).toBe(true)
})

test('requests that follow one another are one vigil', () => {
  const { vigil, goRound, ask } = createWatched()
  ask(0.2)
  vigil.sent()
  vigil.over()
  vigil.sent()
  expect(goRound()).toBe(true)
  vigil.over()
  expect(goRound()).toBe(true)
  expect(goRound()).toBe(false)
})
