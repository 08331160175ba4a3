import { expect, test } from 'vitest'
import { createReporting, type ProgressNote } from './progress.ts'
import { createFakeClock } from './testing/fake-clock.ts'

function create() {
  const clock = createFakeClock()
  const notes: ProgressNote[] = []
  return { clock, notes, ...createReporting(async note => void notes.push(note), clock) }
}

test('many reports are at most five a second, and the last one is never lost', async () => {
  const { clock, notes, report, finish } = create()
  for (let done = 1; done <= 100; done++) {
    report(done, 100)
    await clock.advance(10)
  }
  expect(notes.length).toBeGreaterThanOrEqual(5)
  expect(notes.length).toBeLessThanOrEqual(6)
  await finish()
  expect(notes.at(-1)).toEqual({ progress: 100, total: 100 })
  expect(clock.pending).toBe(0)
})

test('what does not grow is left out, as is what comes after the end', async () => {
  const { notes, report, finish } = create()
  report(2, undefined, 'half')
  report(2)
  report(1)
  await finish()
  report(3)
  expect(notes).toEqual([{ progress: 2, message: 'half' }])
})

test('without somebody who listens nothing happens', async () => {
  const clock = createFakeClock()
  const { report, finish } = createReporting(undefined, clock)
  report(1)
  expect(clock.pending).toBe(0)
  await finish()
})
