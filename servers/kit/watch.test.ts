import { expect, test } from 'vitest'
import { ToolFailure } from './failure.ts'
import { createFakeClock } from './testing/fake-clock.ts'
import { runWatcher } from './watch.ts'

function create(poll: () => Promise<void>) {
  const clock = createFakeClock()
  const logged: string[] = []
  const stop = runWatcher({ name: 'w', every: 1000, poll }, clock, (level, event) =>
    logged.push(`${level} ${event}`),
  )
  return { clock, logged, stop }
}

test('polls at once, then after each pause, until it is stopped', async () => {
  let polls = 0
  const { clock, stop } = create(async () => {
    polls++
  })
  await clock.advance(0)
  expect(polls).toBe(1)
  await clock.advance(3000)
  expect(polls).toBe(4)
  stop()
  await clock.advance(10_000)
  expect(polls).toBe(4)
  expect(clock.pending).toBe(0)
})

test('never polls twice at once, and not after it was stopped in the middle', async () => {
  let polls = 0
  const gate = Promise.withResolvers<void>()
  const { clock, stop } = create(() => {
    polls++
    return gate.promise
  })
  await clock.advance(60_000)
  expect(polls).toBe(1)
  stop()
  gate.resolve()
  await clock.advance(60_000)
  expect(polls).toBe(1)
  expect(clock.pending).toBe(0)
})

test('tells a failure once, goes on, and tells the recovery once', async () => {
  let broken = true
  const { clock, logged, stop } = create(async () => {
    if (broken) throw new Error('no sensor')
  })
  await clock.advance(5000)
  expect(logged).toEqual(['warn watcher failed, it goes on trying'])
  broken = false
  await clock.advance(5000)
  expect(logged).toEqual(['warn watcher failed, it goes on trying', 'info watcher works again'])
  stop()
})

test('pauses longer and longer while it fails, up to five minutes, and names the address', async () => {
  const times: number[] = []
  const fields: unknown[] = []
  const clock = createFakeClock()
  const failure = { what: 'Down.', where: 'http://nas', why: 'refused', fix: 'Start it.' }
  const poll = async () => {
    times.push(clock.monotonic() / 1000)
    throw new ToolFailure(failure)
  }
  const stop = runWatcher(
    { name: 'w', every: 30_000, poll },
    clock,
    (_level, _event, told) => fields.push(told),
    () => 0.5,
  )
  await clock.advance(1100_000)
  expect(times).toEqual([0, 30, 90, 210, 450, 750, 1050])
  expect(fields).toMatchObject([{ watcher: 'w', where: 'http://nas', why: 'refused' }])
  stop()
  expect(clock.pending).toBe(0)
})

type Follow = (signal: AbortSignal, ready: () => void) => Promise<void>

function createFollower(follow: Follow, clock = createFakeClock()) {
  const logged: string[] = []
  const log = (level: string, event: string) => void logged.push(`${level} ${event}`)
  const stop = runWatcher({ name: 'f', follow }, clock, log, () => 0.5)
  return { clock, logged, stop }
}
const LOST = 'warn watcher lost its connection, it goes on trying'
const WORKS = 'info watcher works again'

test('comes again after pauses that double to a minute, and tells the outage and its end once', async () => {
  const clock = createFakeClock()
  const starts: number[] = []
  let down = true
  const { logged, stop } = createFollower(async (signal, ready) => {
    starts.push(clock.monotonic() / 1000)
    if (down) throw new Error('refused')
    ready()
    await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
  }, clock)
  await clock.advance(200_000)
  expect(starts).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183])
  expect(logged).toEqual([LOST])
  down = false
  await clock.advance(60_000)
  expect(logged).toEqual([LOST, WORKS])
  stop()
  await clock.advance(0)
  expect(clock.pending).toBe(0)
  expect(logged).toEqual([LOST, WORKS])
})

test('one that held for a minute is tried again at once; one that only flickers is not', async () => {
  const clock = createFakeClock()
  const starts: number[] = []
  let hold = 0
  const { stop } = createFollower(async (_signal, ready) => {
    starts.push(clock.monotonic() / 1000)
    ready()
    await new Promise<void>(resolve => void clock.after(hold, resolve))
  }, clock)
  await clock.advance(8000)
  expect(starts).toEqual([0, 1, 3, 7])
  hold = 60_000
  await clock.advance(7000 + 60_000 + 1000)
  expect(starts).toEqual([0, 1, 3, 7, 15, 76])
  stop()
})
