import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DownloadsWorld, startDownloads } from './setup/downloads-world.ts'
import { QBITTORRENT_USER, startQbittorrent } from './setup/qbittorrent.ts'
import type { RealProgram } from './setup/scratch.ts'
import { makeTorrent } from './setup/torrents.ts'
import { startTransmission, TRANSMISSION_USER } from './setup/transmission.ts'

/*
 * Tests what the downloads server reads from a real qBittorrent and a real Transmission directly after its
 * own change.
 */

let programs: RealProgram[]
let downloads: DownloadsWorld

beforeAll(async () => {
  const [qbittorrent, transmission] = await Promise.all([startQbittorrent(), startTransmission()])
  programs = [qbittorrent, transmission]
  downloads = await startDownloads({
    QBITTORRENT_URL: qbittorrent.url,
    QBITTORRENT_USERNAME: QBITTORRENT_USER.username,
    QBITTORRENT_PASSWORD: QBITTORRENT_USER.password,
    TRANSMISSION_URL: transmission.url,
    TRANSMISSION_USERNAME: TRANSMISSION_USER.username,
    TRANSMISSION_PASSWORD: TRANSMISSION_USER.password,
  })
})
afterAll(async () => {
  await downloads?.[Symbol.asyncDispose]()
  for (const program of programs ?? []) await program[Symbol.asyncDispose]()
})

async function torrent(name: string) {
  return { name, file: (await makeTorrent(name, randomBytes(1_000_000))).toString('base64') }
}
const remove = (download: string, client: string) =>
  downloads.done('remove_download', { download, client, withData: true, confirm: true })

test('what is read right after a change agrees with it, and a change made twice is made once', async () => {
  const { name, file } = await torrent('Lab.Now')
  for (const client of ['qbittorrent', 'transmission']) {
    const read = async () => {
      const { data } = await downloads.done('get_download_status', { client })
      const [{ paused, limitBytesPerSecond } = {}] = data['clients'] as Record<string, unknown>[]
      const [one] = (data['downloads'] as Record<string, unknown>[]).filter(({ name: of }) => of === name)
      return { paused, limitBytesPerSecond, state: one?.['state'] === 'paused' ? 'paused' : 'running' }
    }
    const twice = async (tool: string, args: Record<string, unknown>, state: string) => {
      await downloads.done(tool, { ...args, client })
      const once = await read()
      expect(once.state, `${tool} ${client}`).toBe(state)
      await downloads.done(tool, { ...args, client })
      expect(await read()).toEqual(once)
    }
    await twice('add_download', { file, paused: true }, 'paused')
    for (let round = 0; round < 3; round++) {
      await twice('resume_download', { download: name }, 'running')
      await twice('pause_download', { download: name }, 'paused')
      await twice('resume_downloads', {}, 'running')
      await twice('pause_downloads', { minutes: 5 }, 'paused')
    }
    await twice('set_download_speed', { limitMiBps: 3 }, 'paused')
    await twice('set_download_speed', { limitMiBps: 0 }, 'paused')
    await twice('set_download_priority', { download: name, priority: 'low' }, 'paused')
    await twice('set_download_priority', { download: name, priority: 'first' }, 'paused')
    await remove(name, client)
    expect((await downloads.done('get_download_status', { client })).data['total']).toBe(0)
  }
})

test('a resume that Transmission gets while it still stops the torrent takes effect', async () => {
  const { name, file } = await torrent('Lab.Race')
  await downloads.done('add_download', { file, client: 'transmission' })
  for (let round = 0; round < 5; round++) {
    const pausing = downloads.world.call('pause_download', { download: name, client: 'transmission' })
    const resuming = downloads.world.call('resume_download', { download: name, client: 'transmission' })
    await Promise.all([pausing, resuming])
    await downloads.done('resume_download', { download: name, client: 'transmission' })
    const { data } = await downloads.done('get_download_status', { client: 'transmission' })
    expect((data['downloads'] as { state: string }[])[0]?.state).not.toBe('paused')
  }
  await remove(name, 'transmission')
})
