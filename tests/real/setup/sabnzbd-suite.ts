import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { until } from '../../support/until.ts'
import { type DownloadsWorld, startDownloads } from './downloads-world.ts'
import { SABNZBD_KEY } from './sabnzbd.ts'
import type { RealProgram } from './scratch.ts'
import { type NewsServer, startNewsServer, toPost } from './usenet.ts'

/** Tests everything that must hold for the downloads server with a real SABnzbd. */
export function sabnzbdSuite(start: (newsPort: number) => Promise<RealProgram>): void {
  let news: NewsServer
  let sabnzbd: RealProgram
  let downloads: DownloadsWorld

  beforeAll(async () => {
    news = await startNewsServer()
    sabnzbd = await start(news.port)
  })
  afterAll(async () => {
    await downloads?.[Symbol.asyncDispose]()
    await sabnzbd?.[Symbol.asyncDispose]()
    await news?.[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    await downloads?.[Symbol.asyncDispose]()
    downloads = await startDownloads({ SABNZBD_URL: sabnzbd.url, SABNZBD_API_KEY: SABNZBD_KEY })
    // The first probe raises nothing: wait until it is over.
    await downloads.done('pause_downloads')
  })

  const toFile = (nzb: string) => Buffer.from(nzb).toString('base64')
  let posts = 0
  function post(name: string, size = 200_000) {
    const bytes = randomBytes(size)
    return { bytes, ...toPost(`${name}.bin`, bytes, `lab-${process.pid}-${++posts}`) }
  }
  const add = (name: string, nzb: string, more = {}) =>
    downloads.done('add_download', { file: toFile(nzb), fileName: `${name}.nzb`, ...more })

  test('what it loads is told while it loads and when it is complete', async () => {
    const film = post('Lab.Film.2026')
    news.put(film)
    const added = await add('Lab.Film.2026', film.nzb, { category: 'movies' })
    expect(added.data).toMatchObject({ client: 'sabnzbd', name: 'Lab.Film.2026', added: true })
    const queued = await downloads.listed('it is in the queue', ({ name }) => name === 'Lab.Film.2026')
    expect(queued).toMatchObject({ state: 'queued', id: added.data['id'] })
    await downloads.done('resume_downloads')
    const { payload, key } = await downloads.event('download_complete')
    expect(payload).toMatchObject({ client: 'sabnzbd', name: 'Lab.Film.2026', category: 'movies' })
    expect(key).toMatch(/^download_complete:sabnzbd:SABnzbd_nzo_/)
    const history = await downloads.done('get_download_history', { name: 'lab.film' })
    expect(history.text).toMatch(
      /"Lab.Film.2026" \(sabnzbd\): completed just now, \d+ KiB, category "movies"/,
    )
    const path = join(sabnzbd.folder, 'Downloads/complete/Lab.Film.2026/Lab.Film.2026.bin')
    expect(readFileSync(path).equals(film.bytes)).toBe(true)
    expect(downloads.world.events().filter(({ type }) => type === 'download_complete')).toHaveLength(1)

    const removed = await downloads.done('remove_download', {
      download: 'lab film 2026',
      withData: true,
      confirm: true,
    })
    expect(removed.text).toContain('they stay where they are')
    expect(readFileSync(path).equals(film.bytes)).toBe(true)
    expect((await downloads.done('get_download_history')).data['total']).toBe(0)
  })

  test('what no news server has fails, with the reason', async () => {
    await add('Lab.Gone', post('Lab.Gone').nzb)
    await downloads.done('resume_downloads')
    const { payload } = await downloads.event('download_failed')
    expect(payload).toMatchObject({
      client: 'sabnzbd',
      name: 'Lab.Gone',
      reason: expect.stringMatching(/Not on your server/),
    })
    const history = await downloads.done('get_download_history', { outcome: 'failed' })
    expect(history.text).toMatch(/"Lab.Gone" \(sabnzbd\): failed just now, .*Not on your server/)
    const preview = await downloads.done('remove_download', { download: 'Lab.Gone', withData: true })
    expect(preview.data).toMatchObject({ done: false })
    await downloads.done('remove_download', { download: 'Lab.Gone', withData: true, confirm: true })
    expect((await downloads.done('get_download_history')).data['total']).toBe(0)
  })

  test('one is held, goes on, comes first and is removed', async () => {
    await add('Lab.One', post('Lab.One').nzb)
    await add('Lab.Two', post('Lab.Two').nzb)
    await add('Lab.Three', post('Lab.Three').nzb, { paused: true })
    const states = async () => {
      const { data } = await downloads.done('get_download_status')
      return (data['downloads'] as { name: string; state: string; priority?: string }[]).map(
        ({ name, state, priority }) => `${name} ${state} ${priority}`,
      )
    }
    expect(await states()).toEqual([
      'Lab.One queued normal',
      'Lab.Two queued normal',
      'Lab.Three paused normal',
    ])
    await downloads.done('pause_download', { download: 'two' })
    const resumed = await downloads.done('resume_download', { download: 'three' })
    expect(resumed).toMatchObject({ data: { held: true } })
    await downloads.done('set_download_priority', { download: 'Lab.Three', priority: 'first' })
    await downloads.done('set_download_priority', { download: 'Lab.One', priority: 'low' })
    expect(await states()).toEqual(['Lab.Three queued normal', 'Lab.Two paused normal', 'Lab.One queued low'])
    expect(await downloads.refused('pause_download', { download: 'lab' })).toMatch(
      /3 downloads fit "lab".*"Lab.Three" \(sabnzbd\)/s,
    )
    for (const name of ['Lab.One', 'Lab.Two', 'Lab.Three']) {
      await downloads.done('remove_download', { download: name, confirm: true })
    }
    expect(await states()).toEqual([])
  })

  test('every change that is made twice is made once', async () => {
    const lab = post('Lab.Twice')
    const state = async () => {
      const { data } = await downloads.done('get_download_status')
      const [client] = data['clients'] as Record<string, unknown>[]
      const list = data['downloads'] as Record<string, unknown>[]
      return { client, list: list.map(({ id, name, state, priority }) => ({ id, name, state, priority })) }
    }
    const twice = async (tool: string, args: Record<string, unknown>) => {
      await downloads.done(tool, args)
      const once = await state()
      await downloads.done(tool, args)
      const { client, ...rest } = await state()
      const ends = [once.client, client].map(one => Number(one?.['resumesAt'] ?? 0))
      expect(Math.abs((ends[0] ?? 0) - (ends[1] ?? 0))).toBeLessThan(5000)
      expect({ ...rest, client: { ...client, resumesAt: 0 } }).toEqual({
        ...once,
        client: { ...once.client, resumesAt: 0 },
      })
    }
    await twice('add_download', { file: toFile(lab.nzb), fileName: 'Lab.Twice.nzb' })
    await add('Lab.Other', post('Lab.Other').nzb)
    await twice('set_download_priority', { download: 'twice', priority: 'low' })
    await twice('set_download_priority', { download: 'twice', priority: 'first' })
    await twice('pause_download', { download: 'twice' })
    await twice('resume_download', { download: 'twice' })
    await twice('set_download_speed', { limitMiBps: 4 })
    await twice('set_download_speed', { limitMiBps: 0 })
    await twice('pause_downloads', { minutes: 10 })
    await twice('pause_downloads', {})
    await twice('add_download', { url: 'http://127.0.0.1:1/twice.nzb' })
    expect((await state()).list).toHaveLength(3)
    for (const { id } of (await state()).list) {
      await downloads.done('remove_download', { download: String(id), confirm: true })
    }
  })

  test('a job whose adding was cut short is not added again', async () => {
    const folder = join(sabnzbd.folder, 'cut')
    const { nzb } = post('Lab.Cut')
    const environment = {
      SABNZBD_URL: sabnzbd.url,
      SABNZBD_API_KEY: SABNZBD_KEY,
      DOWNLOADS_STATE: join(folder, 'state.json'),
    }
    const args = { file: toFile(nzb), fileName: 'Lab.Cut.nzb' }
    await using first = await startDownloads(environment)
    const { data } = await first.done('add_download', args)
    // A kill between SABnzbd's answer and its commit leaves no trace of it here.
    rmSync(environment.DOWNLOADS_STATE)
    await using second = await startDownloads(environment)
    const again = await second.done('add_download', args)
    expect(again.data).toMatchObject({ added: false, id: data['id'], name: 'Lab.Cut' })
    await downloads.done('remove_download', { download: 'Lab.Cut', confirm: true })
    expect((await downloads.done('get_download_status')).data['total']).toBe(0)
  })

  test('a pause for a time is its own, and a limit is set and lifted', async () => {
    const paused = await downloads.done('pause_downloads', { minutes: 10 })
    expect(paused.data).toMatchObject({ paused: [{ client: 'sabnzbd', keeper: 'client' }] })
    await downloads.done('set_download_speed', { limitMiBps: 2.5 })
    const [status] = (await downloads.done('get_download_status')).data['clients'] as Record<
      string,
      unknown
    >[]
    expect(status).toMatchObject({
      paused: true,
      limitBytesPerSecond: 2_621_440,
      freeBytes: expect.any(Number),
    })
    const rest = Number(status?.['resumesAt']) - Date.now()
    expect(rest).toBeGreaterThan(9 * 60_000)
    expect(rest).toBeLessThanOrEqual(10 * 60_000)
    await downloads.done('set_download_speed', { limitMiBps: 0 })
    await downloads.done('resume_downloads')
    const [after] = (await downloads.done('get_download_status')).data['clients'] as Record<string, unknown>[]
    expect(after).toMatchObject({ paused: false })
    expect([after?.['limitBytesPerSecond'], after?.['resumesAt']]).toEqual([undefined, undefined])
  })

  test('a disk with less room than is wanted is told once', async () => {
    await using warned = await startDownloads({
      SABNZBD_URL: sabnzbd.url,
      SABNZBD_API_KEY: SABNZBD_KEY,
      DOWNLOADS_DISK_FREE: '1000000',
      DOWNLOADS_INTERVAL: '50ms',
    })
    const { payload, key } = await warned.event('disk_full_warning')
    expect(key).toBe('disk_full_warning:sabnzbd')
    expect(payload).toMatchObject({ client: 'sabnzbd', free: expect.any(Number) })
    await warned.done('get_download_status')
    await warned.done('get_download_history')
    expect(warned.world.events()).toHaveLength(1)
  })

  test('an address that it cannot load is told of; a file that is no NZB is refused before it', async () => {
    const added = await downloads.done('add_download', { url: 'http://127.0.0.1:1/lab.nzb' })
    expect(added.data).toMatchObject({ added: true, note: expect.stringContaining('fetches') })
    const fetching = await downloads.listed('it fetches', ({ state }) => state === 'fetching')
    await downloads.done('remove_download', { download: fetching.id, confirm: true })
    const empty = '<?xml version="1.0"?><nzb xmlns="http://www.newzbin.com/DTD/2003/nzb"></nzb>'
    expect(await downloads.refused('add_download', { file: toFile(empty) })).toMatch(/it added nothing/)
    expect(await downloads.refused('add_download', { file: toFile('hello') })).toMatch(
      /neither a .torrent nor/,
    )
    expect(await downloads.refused('add_download', { url: 'magnet:?xt=urn:btih:x' })).toMatch(
      /needs qBittorrent or Transmission/,
    )
  })

  test('a wrong key is told with the setting and where the right one stands', async () => {
    await using wrong = await startDownloads({ SABNZBD_URL: sabnzbd.url, SABNZBD_API_KEY: 'wrong-key' })
    const tools: [string, Record<string, unknown>][] = [
      ['get_download_status', {}],
      ['get_download_history', {}],
      ['pause_downloads', {}],
      ['resume_downloads', {}],
      ['set_download_speed', { limitMiBps: 1 }],
      ['pause_download', { download: 'x' }],
      ['resume_download', { download: 'x' }],
      ['set_download_priority', { download: 'x', priority: 'low' }],
      ['remove_download', { download: 'x', confirm: true }],
      ['add_download', { url: 'http://127.0.0.1:1/x.nzb' }],
    ]
    for (const [tool, args] of tools) {
      const text = await wrong.refused(tool, args)
      expect(text).toMatch(/SABnzbd did not accept the key\..*SABNZBD_API_KEY \(SABnzbd: Config > General/s)
      expect(text).not.toContain('wrong-key')
    }
    await until('the watcher told it', () =>
      wrong.world.logged.some(({ event }) => event.includes('watcher failed')),
    )
  })
}
