import { expect, test } from 'vitest'
import { runFollower } from './follow.ts'
import { createFakeClock } from './testing/fake-clock.ts'

type Follow = (signal: AbortSignal, ready: () => void) => Promise<void>

function create(follow: Follow, clock = createFakeClock()) {
  const logged: string[] = []
  const log = (level: string, event: string) => void logged.push(`${level} ${event}`)
  const stop = runFollower({ name: 'f', follow }, clock, log, () => 0.5)
  return { clock, logged, stop }
}
const LOST = 'warn watcher lost its connection, it goes on trying'
const WORKS = 'info watcher works again'

test('comes again after pauses that double to a minute, and tells the outage and its end once', async () => {
  const clock = createFakeClock()
  const starts: number[] = []
  let down = true
  const { logged, stop } = create(async (signal, ready) => {
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
  const { stop } = create(async (_signal, ready) => {
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
