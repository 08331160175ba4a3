import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startDownloads } from './setup/downloads-world.ts'
import { startInn } from './setup/inn.ts'
import { installSabnzbd, SABNZBD_KEY, startSabnzbd } from './setup/sabnzbd.ts'
import { installTrixie } from './setup/trixie.ts'
import { toPost } from './setup/usenet.ts'

installSabnzbd()
await installTrixie()

const SIZE = 20_000_000

test('SABnzbd 3.7 loads from a real INN: slowly, held, let go, complete', { timeout: 120_000 }, async () => {
  await using news = await startInn()
  await using sabnzbd = await startSabnzbd({ newsPort: news.port })
  await using downloads = await startDownloads({ SABNZBD_URL: sabnzbd.url, SABNZBD_API_KEY: SABNZBD_KEY })
  await downloads.done('set_download_speed', { limitMiBps: 2 })
  const bytes = randomBytes(SIZE)
  const post = toPost('Lab.Movie.bin', bytes, `lab-${Date.now()}`)
  await news.put(post)
  const file = Buffer.from(post.nzb).toString('base64')
  await downloads.done('add_download', { file, fileName: 'Lab.Movie.2026.nzb' })
  const loading = await downloads.listed('it loads', ({ percent }) => percent >= 20)
  expect(loading).toMatchObject({
    name: 'Lab.Movie.2026',
    state: 'downloading',
    bytesPerSecond: expect.any(Number),
  })
  const status = await downloads.done('get_download_status')
  expect(status.text).toMatch(/"Lab.Movie.2026" \(sabnzbd\): downloading at .* MiB\/s, \d+ s left/)
  await downloads.done('pause_downloads', { minutes: 5 })
  const held = await downloads.listed('it is held', ({ state }) => state === 'queued')
  expect(held.percent).toBeLessThan(100)
  await downloads.done('set_download_speed', { limitMiBps: 0 })
  await downloads.done('resume_downloads')
  const { payload } = await downloads.event('download_complete')
  expect(payload).toMatchObject({ client: 'sabnzbd', name: 'Lab.Movie.2026' })
  const path = join(sabnzbd.folder, 'Downloads/complete/Lab.Movie.2026/Lab.Movie.bin')
  expect(readFileSync(path).equals(bytes)).toBe(true)

  const gone = toPost('Lab.Gone.bin', randomBytes(100_000), `gone-${Date.now()}`)
  await downloads.done('add_download', {
    file: Buffer.from(gone.nzb).toString('base64'),
    fileName: 'Lab.Gone.nzb',
  })
  const failed = await downloads.event('download_failed')
  expect(failed.payload).toMatchObject({
    name: 'Lab.Gone',
    reason: expect.stringMatching(/Not on your server/),
  })
})
