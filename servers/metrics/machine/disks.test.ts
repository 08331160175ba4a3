import type { StatsFs } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFakeClock } from '../../kit/testing/fake-clock.ts'
import { createDiskReader } from './disks.ts'
import { createFixtureHost, type FixtureHost } from './fixture-host.ts'
import { findRoots } from './roots.ts'

let host: FixtureHost
beforeEach(() => {
  host = createFixtureHost()
  host.write('proc/1/mountinfo', '24 23 0:50 / /mnt/nas rw - nfs4 nas:/export rw\n')
})
afterEach(() => host[Symbol.dispose]())

const STATS = {
  type: 0,
  bsize: 4096,
  blocks: 1000,
  bfree: 500,
  bavail: 300,
  files: 100,
  ffree: 25,
} as StatsFs

test('counts as df does: what is reserved for root is neither used nor free', async () => {
  const read = createDiskReader(findRoots(host.root), createFakeClock(), async () => STATS)
  expect((await read()).disks).toEqual([
    {
      mount: '/mnt/nas',
      device: 'nas:/export',
      type: 'nfs4',
      readOnly: false,
      totalBytes: 4_096_000,
      usedBytes: 500 * 4096,
      freeBytes: 300 * 4096,
      percent: 62.5,
      inodePercent: 75,
    },
  ])
})

test('what has no size is no disk, and what has no inodes tells none', async () => {
  const read = (stats: Partial<StatsFs>) =>
    createDiskReader(findRoots(host.root), createFakeClock(), async () => ({ ...STATS, ...stats }))()
  expect((await read({ blocks: 0 })).disks).toEqual([])
  expect((await read({ files: 0 })).disks[0]).not.toHaveProperty('inodePercent')
})

test('a share that hangs is told after two seconds, and not asked again before it answers', async () => {
  const clock = createFakeClock()
  const answers: ((stats: StatsFs) => void)[] = []
  const read = createDiskReader(
    findRoots(host.root),
    clock,
    () => new Promise(resolve => answers.push(resolve)),
  )
  for (const _ of [1, 2]) {
    const asked = clock.nextTimer()
    const disks = read()
    await asked
    await clock.advance(2000)
    expect(await disks).toEqual({ disks: [], silent: ['/mnt/nas'] })
  }
  expect(answers).toHaveLength(1)
  expect(clock.pending).toBe(0)
  const asked = clock.nextTimer()
  const disks = read()
  await asked
  answers[0]?.(STATS)
  expect((await disks).silent).toEqual([])
})
