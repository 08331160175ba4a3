import { expect, test } from 'vitest'
import { toQueueEntry } from '../../../../tests/lab/arr.ts'
import { decideQueueState, toDone, toQueueTitle } from './queue.ts'
import { queueItem } from './shapes.ts'

const toItem = (change: Record<string, unknown>) =>
  queueItem.parse({ ...toQueueEntry({ id: 1, title: 'Dune.2021.2160p' }), ...change })

const blocked = {
  trackedDownloadState: 'importBlocked',
  trackedDownloadStatus: 'warning',
  status: 'completed',
  statusMessages: [
    { title: 'Dune.2021.mkv', messages: ['Sample', 'Not an upgrade'] },
    { title: 'Dune.2021.mkv', messages: ['Sample'] },
    { title: 'One or more files failed', messages: [] },
  ],
}

test.each([
  [{}, 'downloading', false, undefined],
  [{ trackedDownloadState: 'importPending' }, 'downloaded, waiting to be imported', false, undefined],
  [blocked, 'downloaded, but cannot be imported', true, 'Sample; Not an upgrade; One or more files failed'],
  [
    { status: 'warning', errorMessage: 'The download is stalled', trackedDownloadStatus: 'warning' },
    'stalled in the download client',
    true,
    'The download is stalled',
  ],
  [{ status: 'paused' }, 'paused in the download client', true, undefined],
  [{ status: 'delay' }, 'held back by a delay profile', false, undefined],
  [{ status: 'downloadClientUnavailable' }, 'waiting: the download client does not answer', true, undefined],
  [{ trackedDownloadState: 'failed', errorMessage: 'bad\u0000\u202ename' }, 'failed', true, 'bad name'],
  [{ status: 'somethingNew', trackedDownloadState: null }, 'in an unknown state', false, undefined],
])('%j is %j', (change, state, stuck, reason) => {
  const item = toItem({
    ...change,
    ...(change && 'status' in change && !('trackedDownloadState' in change)
      ? { trackedDownloadState: null }
      : {}),
  })
  expect(decideQueueState(item)).toEqual({ state, stuck, reason })
})

test('a title is that of what it is for, else the release’s', () => {
  expect(toQueueTitle(toItem({}))).toBe('Dune.2021.2160p')
  expect(toQueueTitle(toItem({ movie: { title: 'Dune', year: 2021 } }))).toBe('Dune (2021)')
  const episode = { seasonNumber: 2, episodeNumber: 3, title: 'x' }
  expect(toQueueTitle(toItem({ series: { title: 'Severance' }, episode }))).toBe('Severance S02E03')
})

test('how much is done, where the size is known', () => {
  expect(toDone(toItem({}))).toBe(75)
  expect(toDone(toItem({ size: 0 }))).toBeUndefined()
})
