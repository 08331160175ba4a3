import { expect, test } from 'vitest'
import { eventFeed } from '../../schemas/events.ts'
import { createEventLog, KEPT_EVENTS, toCursor } from './events.ts'
import { createFakeClock } from './testing/fake-clock.ts'

function create() {
  const clock = createFakeClock()
  const log = createEventLog('metrics', 'stream-1', clock)
  const emit = (percent: number) =>
    log.emit('cpu_high', { host: 'nas', percent, threshold: 90 }, 'cpu_high:nas')
  return { clock, log, emit }
}

test('lists what came after the cursor, in the shape of the contract', () => {
  const { clock, log, emit } = create()
  expect(log.read(0)).toEqual({ stream: 'stream-1', cursor: 0, events: [] })
  emit(91)
  emit(92)
  const feed = eventFeed.parse(log.read(0))
  expect(feed).toMatchObject({ stream: 'stream-1', cursor: 2 })
  expect(feed.events[0]).toEqual({
    id: 'stream-1-1',
    seq: 1,
    type: 'cpu_high',
    key: 'cpu_high:nas',
    payload: { host: 'nas', percent: 91, threshold: 90 },
    at: clock.now(),
  })
  expect(log.read(1).events.map(event => event.seq)).toEqual([2])
  expect(log.read(2).events).toEqual([])
  expect(log.read(999)).toMatchObject({ cursor: 2, events: [] })
})

test('keeps the newest thousand', () => {
  const { log, emit } = create()
  for (let count = 0; count < KEPT_EVENTS + 5; count++) emit(count)
  const { events, cursor } = log.read(0)
  expect(events).toHaveLength(KEPT_EVENTS)
  expect(events[0]?.seq).toBe(6)
  expect(cursor).toBe(KEPT_EVENTS + 5)
  expect(events.at(-1)?.seq).toBe(cursor)
})

test('tells its listeners once for the events of one moment, and no more after they left', async () => {
  const { clock, log, emit } = create()
  let calls = 0
  const stop = log.onChange(() => calls++)
  emit(1)
  emit(2)
  await clock.advance(0)
  expect(calls).toBe(1)
  emit(3)
  await clock.advance(0)
  expect(calls).toBe(2)
  stop()
  emit(4)
  await clock.advance(0)
  expect(calls).toBe(2)
})

test.each([
  ['events://metrics', 0],
  ['events://metrics?after=0', 0],
  ['events://metrics?after=17', 17],
  ['events://metrics?after=-1', undefined],
  ['events://metrics?after=', undefined],
  ['events://metrics?after=1e3', undefined],
  ['events://metrics?before=1', undefined],
  ['events://metricsx', undefined],
  ['events://games', undefined],
])('%s asks for what came after %s', (uri, cursor) => {
  expect(toCursor('events://metrics', uri)).toBe(cursor)
})
