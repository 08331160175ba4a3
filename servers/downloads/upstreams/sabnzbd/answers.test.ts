import { expect, test } from 'vitest'
import { historyAnswer, queueAnswer, toSeconds, toSnapshot } from './answers.ts'

const NOW = 1_795_000_000_000
const MIB = 2 ** 20

const queue = (more = {}) =>
  queueAnswer.parse({
    queue: {
      status: 'Downloading',
      paused: false,
      kbpersec: '10',
      mbleft: '3',
      speedlimit_abs: '',
      slots: [],
      ...more,
    },
  }).queue
const slot = (id: string, status: string, more = {}) => ({
  nzo_id: id,
  filename: `Lab ${id}`,
  status,
  mb: '4.00',
  mbleft: '1.00',
  timeleft: '0:00:10',
  cat: '*',
  priority: 'Normal',
  ...more,
})
const history = (...slots: object[]) => historyAnswer.parse({ history: { slots } }).history
const done = (id: string, more = {}) => ({
  nzo_id: id,
  name: `Lab ${id}`,
  status: 'Completed',
  bytes: MIB,
  completed: 1_794_000_000,
  category: 'tv',
  fail_message: '',
  loaded: false,
  ...more,
})

test('only the first of the queue is loaded, whatever it says of the others', () => {
  const slots = [
    slot('a', 'Paused'),
    slot('b', 'Downloading'),
    slot('c', 'Downloading'),
    slot('d', 'Grabbing', { priority: 0 }),
    slot('e', 'Propagating'),
  ]
  const { downloads, limit } = toSnapshot(queue({ slots }), history(), NOW)
  expect(downloads.map(({ id, state, speed }) => [id, state, speed])).toEqual([
    ['a', 'paused', 0],
    ['b', 'downloading', 10_240],
    ['c', 'queued', 0],
    ['d', 'fetching', 0],
    ['e', 'queued', 0],
  ])
  expect(downloads[1]).toMatchObject({ size: 4 * MIB, left: MIB, eta: 10, category: undefined })
  expect(downloads[3]?.priority).toBeUndefined()
  expect(limit).toBeUndefined()
})

test('without a news server that delivers the first is stalled; paused as a whole nothing is loaded', () => {
  const slots = [slot('a', 'Downloading')]
  expect(toSnapshot(queue({ slots, status: 'Idle' }), history(), NOW).downloads[0]?.state).toBe('stalled')
  const paused = toSnapshot(queue({ slots, paused: true, pause_int: '14:59' }), history(), NOW)
  expect(paused.downloads[0]?.state).toBe('queued')
  expect(paused.resumesAt).toBe(NOW + 899_000)
})

test('a job is told once while SABnzbd tells it twice, as worked on and as ended', () => {
  const working = done('a', { loaded: true, completed: 1_794_000_009 })
  const during = toSnapshot(queue(), history(working), NOW)
  expect([during.downloads.map(({ state }) => state), during.finished]).toEqual([['processing'], []])
  const twice = toSnapshot(queue(), history(working, done('a')), NOW)
  expect(twice.downloads).toEqual([])
  expect(twice.finished.map(({ key }) => key)).toEqual(['a:1794000000'])
})

test('what is unpacked is not finished; what failed says why', () => {
  const slots = [
    done('a', { status: 'Extracting' }),
    done('b', { status: 'Failed', downloaded: 5 }),
    done('c', { status: 'Failed', fail_message: 'Aborted' }),
  ]
  const { downloads, finished } = toSnapshot(queue(), history(...slots), NOW)
  expect(downloads).toMatchObject([{ id: 'a', state: 'processing', reason: 'extracting' }])
  expect(finished).toMatchObject([
    { id: 'b', outcome: 'failed', reason: 'SABnzbd does not say why', deletable: 5 },
    { id: 'c', outcome: 'failed', reason: 'Aborted', deletable: undefined },
  ])
})

test.each([
  ['0:00:10', 10],
  ['14:59', 899],
  ['1:02:03:04', 93_784],
  ['0', 0],
  ['-1:05', 0],
  ['unknown', 0],
])('%s are %d seconds', (text, seconds) => {
  expect(toSeconds(text)).toBe(seconds)
})
