import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../../kit/testing/fake-clock.ts'
import { UpstreamFailure } from '../../../kit/upstream/failure.ts'
import { openState } from '../../state.ts'
import { fakeDownload, fakeFinished } from '../../testing/fake-client.ts'
import type { Added, Source } from '../download-client.ts'
import { openAdditions } from './additions.ts'

const NOW = 1_795_000_000_000
const DAY = 86_400_000
const FILE = { kind: 'nzb', bytes: Buffer.from('<nzb/>'), fileName: 'Lab.Show.nzb' } satisfies Source
const URL_SOURCE = { kind: 'url', url: 'http://indexer/get?id=1&apikey=secret' } satisfies Source
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

test.each([
  ['file', FILE, 'Lab.Show'],
  ['url', URL_SOURCE, `Trying to fetch NZB from ${URL_SOURCE.url}`],
] as const)('a %s whose answer nobody heard is found by the name of its job', async (_kind, source, name) => {
  using lab = open()
  lab.jobs.push({ id: 'other', name: 'Other' })
  const cut = async () => {
    lab.jobs.push({ id: 'mine', name })
    throw silence
  }
  await expect(lab.start().once(source, lab.look, cut)).rejects.toBe(silence)
  expect(await lab.start().once(source, lab.look, lab.add)).toMatchObject({ id: 'mine', known: true })
  expect(lab.jobs).toHaveLength(2)
})

test('what did not arrive is added by the next call', async () => {
  using lab = open()
  await expect(lab.start().once(FILE, lab.look, () => Promise.reject(silence))).rejects.toBe(silence)
  expect(await lab.start().once(FILE, lab.look, lab.add)).toMatchObject({ known: false })
})

test('jobs with another name, and those of files without one, are not taken for it', async () => {
  using lab = open()
  lab.jobs.push({ id: 'a', name: 'A' }, { id: 'b', name: 'download' })
  const unnamed = { ...FILE, bytes: Buffer.from('<nzb>2</nzb>'), fileName: 'download.nzb' }
  for (const source of [FILE, URL_SOURCE, unnamed]) {
    expect(await lab.start().once(source, lab.look, lab.add)).toMatchObject({ known: false })
  }
})

test.each([
  ['was completed today', [fakeFinished({ id: 'job1', at: NOW - 1000 })], true],
  ['was completed long ago', [fakeFinished({ id: 'job1', at: NOW - 2 * DAY })], false],
  ['failed', [fakeFinished({ id: 'job1', outcome: 'failed', at: NOW })], false],
  ['was removed', [], false],
])('a job that %s', async (_what, finished, known) => {
  using lab = open()
  await lab.start().once(FILE, lab.look, lab.add)
  const read = async () => ({ downloads: [], finished })
  expect(await lab.start().once(FILE, read, lab.add)).toMatchObject({ known })
})
