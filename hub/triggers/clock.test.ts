import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { createLog } from '../core/log.ts'
import { createSignals } from '../core/signals.ts'
import { startClockTrigger } from './clock.ts'

const settled = () => new Promise<void>(resolve => setImmediate(resolve))

/** Opens a trigger whose schedules are only times; firing removes those that are due. */
async function openTrigger(dues: number[] = []) {
  const clock = createFakeClock(0)
  const signals = createSignals(error => expect.unreachable(String(error)))
  const logged: string[] = []
  const log = createLog({
    level: 'debug',
    now: clock.now,
    write: line => logged.push(JSON.parse(line).event),
  })
  const fired: number[][] = []
  const state = { dues, broken: 0, most: 16 }
  const fire = async () => {
    if (state.broken-- > 0) throw new Error('disk full')
    const due = state.dues.filter(at => at <= clock.now())
    const turn = due.slice(0, state.most)
    state.dues = [...due.slice(state.most), ...state.dues.filter(at => at > clock.now())]
    if (turn.length > 0) fired.push([clock.now(), ...turn])
    return due.length > turn.length
  }
  const trigger = await startClockTrigger({
    clock,
    log,
    signals,
    nextDue: () => Promise.resolve(state.dues.length > 0 ? Math.min(...state.dues) : undefined),
    fire,
    random: () => 0.5,
  })
  const changed = async () => {
    signals.emit('schedules', { agent: 'homelab' })
    await settled()
  }
  const advance = async (ms: number) => {
    clock.advance(ms)
    await settled()
  }
  return {
    clock,
    state,
    fired,
    logged,
    changed,
    advance,
    [Symbol.asyncDispose]: () => trigger[Symbol.asyncDispose](),
  }
}

test('promise 6: without a schedule there is no timer', async () => {
  await using trigger = await openTrigger()
  expect(trigger.clock.timers).toBe(0)
  trigger.state.dues = [5_000]
  await trigger.changed()
  expect(trigger.clock.timers).toBe(1)
  trigger.state.dues = []
  await trigger.changed()
  expect(trigger.clock.timers).toBe(0)
})

test('promise 6: however many schedules there are, there is one timer, for the earliest', async () => {
  await using trigger = await openTrigger([9_000, 5_000, 5_000, 7_000])
  expect(trigger.clock.timers).toBe(1)
  await trigger.advance(4_999)
  expect(trigger.fired).toEqual([])
  await trigger.advance(1)
  expect(trigger.fired).toEqual([[5_000, 5_000, 5_000]])
  expect(trigger.clock.timers).toBe(1)
  await trigger.advance(2_000)
  await trigger.advance(2_000)
  expect(trigger.fired.slice(1)).toEqual([
    [7_000, 7_000],
    [9_000, 9_000],
  ])
  expect(trigger.clock.timers).toBe(0)
})

test('what came due while the hub was down fires at its start', async () => {
  await using trigger = await openTrigger([-1_000, 0])
  expect(trigger.fired).toEqual([[0, -1_000, 0]])
})

test('an earlier schedule that is made later moves the timer', async () => {
  await using trigger = await openTrigger([30_000])
  trigger.state.dues.push(1_000)
  await trigger.changed()
  await trigger.advance(1_000)
  expect(trigger.fired).toEqual([[1_000, 1_000]])
})

test('a clock that jumps is noticed within a minute, forwards and backwards', async () => {
  await using trigger = await openTrigger([3_600_000])
  trigger.clock.jump(7_200_000)
  await trigger.advance(60_000)
  await trigger.advance(0)
  expect(trigger.fired).toHaveLength(1)
  trigger.state.dues = [trigger.clock.now() + 1_000]
  await trigger.changed()
  trigger.clock.jump(-500)
  await trigger.advance(1_000)
  expect(trigger.fired).toHaveLength(1)
  await trigger.advance(500)
  expect(trigger.fired).toHaveLength(2)
})

test('of many at one instant the first turn is in time, and the last within seconds', async () => {
  await using trigger = await openTrigger(Array.from({ length: 200 }, () => 5_000))
  await trigger.advance(5_000)
  expect(trigger.fired.map(([at]) => at)).toEqual([5_000])
  await trigger.changed()
  expect(trigger.fired).toHaveLength(1)
  for (let times = 0; times < 30; times++) {
    await trigger.advance(100)
    // A change of the schedules meanwhile does not shorten the pause before a turn.
    await trigger.changed()
  }
  const turns = trigger.fired.map(([at = 0, ...dues]) => ({ at, count: dues.length }))
  expect(turns.reduce((sum, { count }) => sum + count, 0)).toBe(200)
  expect(Math.max(...turns.map(({ count }) => count))).toBe(16)
  expect(turns.at(-1)?.at).toBeLessThanOrEqual(7_500)
  expect(trigger.clock.timers).toBe(0)
})

test('what comes due during a pause is in time once it is over', async () => {
  await using trigger = await openTrigger([5_000, 5_000, 5_100, 60_000])
  trigger.state.most = 1
  await trigger.advance(5_000)
  await trigger.advance(124)
  expect(trigger.fired).toHaveLength(1)
  await trigger.advance(1)
  await trigger.advance(125)
  expect(trigger.fired).toEqual([
    [5_000, 5_000],
    [5_125, 5_000],
    [5_250, 5_100],
  ])
  await trigger.advance(54_750)
  expect(trigger.fired).toHaveLength(4)
})

test('a firing that fails is said and tried again', async () => {
  await using trigger = await openTrigger([1_000])
  trigger.state.broken = 2
  await trigger.advance(1_000)
  expect([trigger.logged, trigger.fired, trigger.clock.timers]).toEqual([['clock_failed'], [], 1])
  await trigger.advance(1_000)
  await trigger.advance(1_000)
  expect(trigger.fired).toEqual([[3_000, 1_000]])
  expect(trigger.logged).toEqual(['clock_failed', 'clock_failed'])
})

test('disposed it holds no timer and hears nothing', async () => {
  const trigger = await openTrigger([5_000])
  await trigger[Symbol.asyncDispose]()
  await trigger.changed()
  await trigger.advance(10_000)
  expect([trigger.clock.timers, trigger.fired]).toEqual([0, []])
})
