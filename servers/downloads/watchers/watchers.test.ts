import { expect, test } from 'vitest'
import { createEventLog } from '../../kit/events.ts'
import { createFakeClock } from '../../kit/testing/fake-clock.ts'
import { runWatcher } from '../../kit/watch.ts'
import { readDownloadsSettings } from '../config.ts'
import { createFakeClient, type FakeClient, fakeDownload, fakeFinished, GIB } from '../testing/fake-client.ts'
import { createWatchers } from './watchers.ts'

function watch(
  environment: Record<string, string> = {},
  prepare: (fake: FakeClient) => void = () => undefined,
) {
  const clock = createFakeClock()
  const fake = createFakeClient()
  prepare(fake)
  const events = createEventLog('downloads', 'run-1', clock)
  const logged: string[] = []
  const settings = readDownloadsSettings({ DOWNLOADS_INTERVAL: '10s', ...environment })
  const watchers = createWatchers({ clients: [fake], settings, emit: events.emit, clock })
  const stop = watchers.map(watcher =>
    runWatcher(
      watcher,
      clock,
      (_level, event) => void logged.push(event),
      () => 0.5,
    ),
  )
  return {
    fake,
    logged,
    events: () => events.read(0).events,
    /** Runs the next probe. */
    look: () => clock.advance(10_000),
    advance: (delay: number) => clock.advance(delay),
    [Symbol.dispose]: () => {
      for (const end of stop) end()
    },
  }
}

test('what completed before the first look is not told, what completes after it once', async () => {
  using world = watch({}, fake => {
    fake.snapshot = { ...fake.snapshot, finished: [fakeFinished()] }
  })
  await world.look()
  const fresh = fakeFinished({ id: 'f2', name: 'Lab.New\u0007', category: 'tv' })
  world.fake.snapshot = { ...world.fake.snapshot, finished: [fresh, fakeFinished()] }
  await world.look()
  await world.look()
  expect(world.events()).toMatchObject([
    {
      type: 'download_complete',
      key: 'download_complete:qbittorrent:f2:1',
      payload: { client: 'qbittorrent', name: 'Lab.New', size: GIB, category: 'tv' },
    },
  ])
})

test('the same download added again is told again', async () => {
  using world = watch()
  await world.look()
  world.fake.snapshot = { ...world.fake.snapshot, finished: [fakeFinished()] }
  await world.look()
  world.fake.snapshot = { ...world.fake.snapshot, finished: [] }
  await world.look()
  world.fake.snapshot = { ...world.fake.snapshot, finished: [fakeFinished({ key: 'f1:2' })] }
  await world.look()
  expect(world.events().map(({ key }) => key)).toEqual([
    'download_complete:qbittorrent:f1:1',
    'download_complete:qbittorrent:f1:2',
  ])
})

test('a torrent that fails is told once while it lasts, and again after it got on', async () => {
  using world = watch()
  await world.look()
  const broken = fakeFinished({ outcome: 'failed', recoverable: true, reason: 'No space\nleft' })
  const ok = { ...world.fake.snapshot }
  const states = [[broken], [broken], [], [broken]]
  for (const finished of states) {
    world.fake.snapshot = { ...ok, finished }
    await world.look()
  }
  expect(world.events()).toMatchObject([
    { type: 'download_failed', payload: { name: 'Lab.Film', reason: 'No space left' } },
    { type: 'download_failed' },
  ])
})

test('a full disk is told once while it lasts, and again after there was room', async () => {
  using world = watch()
  const free = async (bytes: number, needed = 0) => {
    world.fake.snapshot = { ...world.fake.snapshot, free: bytes, needed, downloads: [fakeDownload()] }
    await world.look()
  }
  await free(6 * GIB)
  await free(0)
  await free(6 * GIB)
  await free(4 * GIB)
  expect(world.events()).toEqual([])
  await free(4 * GIB)
  await free(5.5 * GIB)
  await free(4 * GIB)
  expect(world.events()).toMatchObject([
    {
      type: 'disk_full_warning',
      key: 'disk_full_warning:qbittorrent',
      payload: { client: 'qbittorrent', free: 4 * GIB },
    },
  ])
  await free(7 * GIB)
  await free(7 * GIB, 8 * GIB)
  await free(7 * GIB, 8 * GIB)
  expect(world.events()[1]).toMatchObject({ payload: { free: 7 * GIB, needed: 8 * GIB } })
  expect(world.events()).toHaveLength(2)
})

test('a disk that the client does not tell of, or that is not to be watched, raises nothing', async () => {
  using unknown = watch()
  await unknown.look()
  using off = watch({ DOWNLOADS_DISK_FREE: 'off' })
  off.fake.snapshot = { ...off.fake.snapshot, free: 1 }
  await off.look()
  expect([...unknown.events(), ...off.events()]).toEqual([])
})

test('a client that is down is told once, and its first look after it came up raises nothing old', async () => {
  using world = watch({}, fake => {
    fake.down = true
  })
  await world.advance(60 * 60_000)
  expect(world.logged).toEqual(['watcher failed, it goes on trying'])
  world.fake.snapshot = { ...world.fake.snapshot, finished: [fakeFinished()] }
  world.fake.down = false
  await world.advance(10 * 60_000)
  expect(world.logged).toEqual(['watcher failed, it goes on trying', 'watcher works again'])
  expect(world.events()).toEqual([])
})
