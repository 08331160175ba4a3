import { expect, test } from 'vitest'
import { EVENTS_AT_ONCE } from '../../schemas/events.ts'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { createRecord } from '../../tests/support/until.ts'
import { createLog } from '../core/log.ts'
import type { EventCursor } from '../store/events.ts'
import { StoreFault } from '../store/writer.ts'
import { createServerEvents, type EventSource } from './server-events.ts'

const settled = () => new Promise<void>(resolve => setImmediate(resolve))
const event = (seq: number, payload: unknown = {}) => ({
  id: `e${seq}`,
  seq,
  type: 'cpu_high',
  payload,
  at: seq,
})

/** Opens a server whose feed is a list, and records what is posted of it. */
function openFeed(name = 'metrics') {
  const feed = { stream: 's1', events: [] as ReturnType<typeof event>[], broken: '' }
  const clock = createFakeClock()
  const ending = new AbortController()
  const store = { isFull: false }
  const asked: string[] = []
  const gate = { hold: Promise.resolve() }
  const source: EventSource = {
    spec: { name },
    eventsUri: `events://${name}`,
    async readResource(uri) {
      asked.push(uri)
      await gate.hold
      if (feed.broken) return { contents: [{ text: feed.broken }] }
      const after = Number(new URL(uri).searchParams.get('after'))
      const events = feed.events.filter(({ seq }) => seq > after).slice(0, EVENTS_AT_ONCE)
      const cursor = events.at(-1)?.seq ?? feed.events.length
      return { contents: [{ text: JSON.stringify({ stream: feed.stream, cursor, events }) }] }
    },
  }
  const posted = createRecord<{ server: string; ids: string[]; cursor: EventCursor }>()
  const logged: string[] = []
  const payloads: unknown[] = []
  let cursor: EventCursor | undefined
  const onNews = createServerEvents({
    clock,
    ending: ending.signal,
    log: createLog({ level: 'debug', now: () => 0, write: line => logged.push(JSON.parse(line).event) }),
    readCursor: () => Promise.resolve(cursor),
    async post(server, events, next) {
      payloads.push(...events.map(({ payload }) => payload))
      if (store.isFull) throw new StoreFault('full', 'The disk is full', {})
      cursor = next
      posted.add({ server, ids: events.map(({ externalId }) => externalId), cursor: next })
    },
  })
  const news = async () => {
    onNews(source)
    await settled()
  }
  return { feed, source, asked, gate, posted, payloads, logged, news, onNews, clock, ending, store }
}

test('it reads on from the cursor, and posts what is new together with the next one', async () => {
  const { feed, asked, posted, news } = openFeed()
  feed.events.push(event(1), event(2))
  await news()
  feed.events.push(event(3))
  await news()
  await news()
  expect(asked).toEqual(['events://metrics?after=0', 'events://metrics?after=2', 'events://metrics?after=3'])
  expect(posted.all).toEqual([
    { server: 'metrics', ids: ['e1', 'e2'], cursor: { stream: 's1', cursor: 2 } },
    { server: 'metrics', ids: ['e3'], cursor: { stream: 's1', cursor: 3 } },
  ])
})

test('an event whose payload is no object holds no other event back', async () => {
  const { feed, payloads, news } = openFeed()
  feed.events.push(event(1, ['a']), event(2, 'text'), event(3, { ok: true }))
  await news()
  expect(payloads).toEqual([{ value: ['a'] }, { value: 'text' }, { ok: true }])
})

test('a feed that has more than it tells at once is read to its end', async () => {
  const { feed, posted, news } = openFeed()
  const many = 2 * EVENTS_AT_ONCE + 1
  for (let seq = 1; seq <= many; seq++) feed.events.push(event(seq))
  await news()
  expect(posted.all.map(({ ids, cursor }) => [ids.length, cursor.cursor])).toEqual([
    [EVENTS_AT_ONCE, EVENTS_AT_ONCE],
    [EVENTS_AT_ONCE, 2 * EVENTS_AT_ONCE],
    [1, many],
  ])
})

test('a server that restarted is read from its beginning', async () => {
  const { feed, posted, news } = openFeed()
  feed.events.push(event(1), event(2), event(3))
  await news()
  feed.stream = 's2'
  feed.events = [{ ...event(1), id: 'new' }]
  await news()
  expect(posted.all[1]).toEqual({ server: 'metrics', ids: ['new'], cursor: { stream: 's2', cursor: 1 } })
})

test('news during a reading is one more reading, not many at once', async () => {
  const { feed, asked, gate, onNews, source } = openFeed()
  const held = Promise.withResolvers<void>()
  gate.hold = held.promise
  for (let times = 0; times < 5; times++) onNews(source)
  await settled()
  expect(asked).toHaveLength(1)
  feed.events.push(event(1))
  held.resolve()
  await settled()
  expect(asked).toHaveLength(2)
})

test.for(['', 'not JSON', '{"stream":"s1"}', '{"stream":"s1","cursor":1,"events":[{"id":""}]}'])(
  'a feed that is %j posts nothing, is said, and is read again at the next news',
  async text => {
    const { feed, posted, logged, news } = openFeed()
    feed.broken = text || ' '
    await news()
    expect([posted.all, logged]).toEqual([[], ['events_not_read']])
    feed.broken = ''
    feed.events.push(event(1))
    await news()
    expect(posted.all).toHaveLength(1)
  },
)

test('a server without events is not asked', async () => {
  const { asked, onNews, source } = openFeed()
  onNews({ ...source, eventsUri: undefined })
  await settled()
  expect(asked).toEqual([])
})

test('what the database could not take is read again, without further news, until it can', async () => {
  const { feed, posted, logged, news, clock, store } = openFeed()
  feed.events.push(event(1))
  store.isFull = true
  await news()
  for (let retry = 0; retry < 2; retry++) {
    expect(clock.timers).toBe(1)
    clock.advance(10_000)
    await settled()
  }
  expect(posted.all).toEqual([])
  store.isFull = false
  clock.advance(10_000)
  await settled()
  expect(posted.all.map(({ ids }) => ids)).toEqual([['e1']])
  expect([logged, clock.timers]).toEqual([Array(3).fill('events_not_stored'), 0])
})

test('the end of the hub ends the wait for the database', async () => {
  const { feed, news, clock, ending, store } = openFeed()
  feed.events.push(event(1))
  store.isFull = true
  await news()
  ending.abort()
  await settled()
  expect(clock.timers).toBe(0)
})
