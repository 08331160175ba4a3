import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../../kit/testing/fake-clock.ts'
import { UpstreamFailure } from '../../../kit/upstream/failure.ts'
import { openState } from '../../state.ts'
import { fakeDownload, fakeFinished } from '../../testing/fake-client.ts'
import type { Added, Source } from '../download-client.ts'
import { decideKnown, openAdditions } from './additions.ts'

const NOW = 1_795_000_000_000
const DAY = 86_400_000
const FILE: Source = { kind: 'nzb', bytes: Buffer.from('<nzb/>'), fileName: 'Lab.Show.nzb' }
const URL_SOURCE: Source = { kind: 'url', url: 'http://indexer/get?id=1&apikey=secret' }
const none = { downloads: [], finished: [] }
const silence = new UpstreamFailure({ kind: 'timeout', what: 'w', where: 'x', why: 'y', fix: 'z' })

function open() {
  const folder = mkdtempSync(join(tmpdir(), 'additions-'))
  const file = join(folder, 'downloads.json')
  const jobs: { id: string; name: string }[] = []
  const look = async () => ({ downloads: jobs.map(job => fakeDownload(job)), finished: [] })
  const start = () =>
    openAdditions(
      'sabnzbd',
      openState(file, () => undefined),
      createFakeClock(NOW),
    )
  const add = async (): Promise<Added> => {
    const job = { id: `job${jobs.length + 1}`, name: 'Lab.Show' }
    jobs.push(job)
    return { ...job, known: false }
  }
  return { file, jobs, look, start, add, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}

test.each([FILE, URL_SOURCE])(
  'the same $kind again adds nothing, also after a restart of this server',
  async source => {
    using lab = open()
    await lab.start().once(source, lab.look, lab.add)
    expect(await lab.start().once(source, lab.look, lab.add)).toMatchObject({ id: 'job1', known: true })
    expect(lab.jobs).toHaveLength(1)
    expect(readFileSync(lab.file, 'utf8')).not.toContain('secret')
  },
)

test('two calls at the same time add one job', async () => {
  using lab = open()
  const additions = lab.start()
  const both = [FILE, FILE].map(source => additions.once(source, lab.look, lab.add))
  expect((await Promise.all(both)).map(({ known }) => known)).toEqual([false, true])
})

test.each([FILE, URL_SOURCE])(
  'a $kind whose answer nobody heard is found among the jobs that came since',
  async source => {
    using lab = open()
    lab.jobs.push({ id: 'other', name: 'Other' })
    const cut = async () => {
      await lab.add()
      throw silence
    }
    await expect(lab.start().once(source, lab.look, cut)).rejects.toBe(silence)
    expect(await lab.start().once(source, lab.look, lab.add)).toMatchObject({ id: 'job2', known: true })
    expect(lab.jobs).toHaveLength(2)
  },
)

test('what did not arrive is added by the next call', async () => {
  using lab = open()
  await expect(lab.start().once(FILE, lab.look, () => Promise.reject(silence))).rejects.toBe(silence)
  expect(await lab.start().once(FILE, lab.look, lab.add)).toMatchObject({ known: false })
})

test('another job with the name of a file is not taken for it, and of several nobody guesses', () => {
  const cut = { at: NOW, before: ['old'] }
  const others = {
    downloads: [fakeDownload({ id: 'a', name: 'A' }), fakeDownload({ id: 'b', name: 'B' })],
    finished: [],
  }
  expect(decideKnown(cut, FILE, others, NOW)).toBeUndefined()
  expect(decideKnown(cut, URL_SOURCE, others, NOW)).toEqual({
    known: true,
    note: expect.stringContaining('several jobs came since'),
  })
})

test.each([
  ['was completed today', fakeFinished({ id: 'a', at: NOW - 1000 }), true],
  ['was completed long ago', fakeFinished({ id: 'a', at: NOW - 2 * DAY }), false],
  ['failed', fakeFinished({ id: 'a', outcome: 'failed', at: NOW }), false],
])('a job that %s', (_what, one, isKnown) => {
  const known = decideKnown({ at: NOW, id: 'a' }, FILE, { downloads: [], finished: [one] }, NOW)
  expect(known !== undefined).toBe(isKnown)
})

test('a job that was removed may be added again', () => {
  expect(decideKnown({ at: NOW, id: 'a' }, FILE, none, NOW)).toBeUndefined()
})
