import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { createRecord } from '../../tests/support/until.ts'
import { createRevival } from './revival.ts'

/** Creates a revival that works when `state` says so, on a clock that stands still. */
function revive() {
  const clock = createFakeClock()
  const leaving = new AbortController()
  const attempts = createRecord<{ at: number; isFirst: boolean }>()
  const state = { works: false }
  const revival = createRevival({
    clock,
    attempt: async isFirst => {
      attempts.add({ at: clock.monotonic(), isFirst })
      return state.works
    },
    left: leaving.signal,
  })
  return { clock, leaving, attempts, state, revival }
}

test('it attempts at once, then ever more slowly and for ever, until it worked', async () => {
  const { clock, attempts, state, revival } = revive()
  const over = revival.begin()
  await revival.begin()
  let from = 0
  for (const wait of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]) {
    from = await clock.armed(wait, from)
    state.works = attempts.all.length === 8
    clock.advance(wait)
  }
  await over
  const at = [0, 1_000, 3_000, 7_000, 15_000, 31_000, 61_000, 91_000, 121_000]
  expect(attempts.all).toEqual(at.map((time, index) => ({ at: time, isFirst: index === 0 })))
  expect(clock.timers).toBe(0)
})

test('what worked and never proved itself is waited for before it is attempted again', async () => {
  const { clock, attempts, state, revival } = revive()
  state.works = true
  await revival.begin()
  const again = revival.begin()
  await clock.armed(1_000)
  expect(attempts.all.length).toBe(1)
  clock.advance(1_000)
  await again
  revival.proved()
  await revival.begin()
  expect(attempts.all.map(({ at }) => at)).toEqual([0, 1_000, 1_000])
})

test('who leaves waits no longer, and nothing is attempted any more', async () => {
  const { clock, leaving, attempts, revival } = revive()
  const over = revival.begin()
  await clock.armed(1_000)
  leaving.abort()
  await over
  await revival.begin()
  expect({ attempts: attempts.all.length, timers: clock.timers }).toEqual({ attempts: 1, timers: 0 })
})
