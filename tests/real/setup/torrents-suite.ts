import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { until } from '../../support/until.ts'
import { type DownloadsWorld, startDownloads } from './downloads-world.ts'
import { addPeer } from './peers.ts'
import { QBITTORRENT_USER, type QbittorrentOptions } from './qbittorrent.ts'
import type { RealProgram } from './scratch.ts'
import { makeTorrent } from './torrents.ts'
import { startTransmission, TRANSMISSION_USER } from './transmission.ts'

/**
 * Tests everything that must hold for the downloads server with a real qBittorrent and a real Transmission.
 */
export function torrentsSuite(start: (options?: QbittorrentOptions) => Promise<RealProgram>): void {
  const SIZE = 3_000_000

  let transmission: RealProgram & { peerPort: number }
  let qbittorrent: RealProgram
  let downloads: DownloadsWorld

  const environment = () => ({
    QBITTORRENT_URL: qbittorrent.url,
    QBITTORRENT_USERNAME: QBITTORRENT_USER.username,
    QBITTORRENT_PASSWORD: QBITTORRENT_USER.password,
    TRANSMISSION_URL: transmission.url,
    TRANSMISSION_USERNAME: TRANSMISSION_USER.username,
    TRANSMISSION_PASSWORD: TRANSMISSION_USER.password,
  })

  beforeAll(async () => {
    const started = await Promise.all([startTransmission(), start()])
    transmission = started[0]
    qbittorrent = started[1]
  })
  afterAll(async () => {
    await downloads?.[Symbol.asyncDispose]()
    await qbittorrent?.[Symbol.asyncDispose]()
    await transmission?.[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    await downloads?.[Symbol.asyncDispose]()
    const state = join(transmission.folder, 'state.json')
    downloads = await startDownloads({ ...environment(), DOWNLOADS_STATE: state })
    await downloads.done('get_download_status')
  })

  async function torrent(name: string) {
    const bytes = randomBytes(SIZE)
    return { name, bytes, file: (await makeTorrent(name, bytes)).toString('base64') }
  }
  const remove = (download: string, client: string) =>
    downloads.done('remove_download', { download, client, withData: true, confirm: true })

  const folderOf = (client: string) =>
    join((client === 'qbittorrent' ? qbittorrent : transmission).folder, 'downloads')

  /** Each client waits about ten seconds until the other uploads, so both directions run at the same time. */
  test('what each loads from the other is held, limited, let go, and told when it is complete', async () => {
    await Promise.all([transfer('qbittorrent', 'transmission'), transfer('transmission', 'qbittorrent')])
  })

  async function transfer(client: string, seeder: string): Promise<void> {
    const { name, bytes, file } = await torrent(`Lab.Iso.for.${client}`)
    writeFileSync(join(folderOf(seeder), name), bytes)
    await downloads.done('add_download', { file, client: seeder })
    await until('the other has it', async () => {
      const { data } = await downloads.done('get_download_history', { client: seeder, name })
      return data['completed'] === 1
    })
    await downloads.done('set_download_speed', { limitMiBps: 0.5, client })
    const added = await downloads.done('add_download', { file, client, paused: true, category: 'isos' })
    expect(added.data).toMatchObject({ client, name, added: true })
    const id = String(added.data['id'])
    expect(
      await downloads.listed('it is held', one => one.id === id && one.state === 'paused'),
    ).toMatchObject({
      name,
      percent: 0,
      sizeBytes: SIZE,
    })
    const again = await downloads.done('add_download', { file, client })
    expect(again.text).toMatch(/^Nothing was added: \w+ has "Lab.Iso.for.\w+" already/)

    await downloads.done('resume_download', { download: name, client })
    await downloads.listed(
      'it goes on',
      one => one.id === id && one.client === client && one.state !== 'paused',
    )
    await addPeer(qbittorrent.url, id, transmission.peerPort)
    await downloads.listed('it loads', one => one.id === id && one.client === client && one.percent > 0)
    const preview = await downloads.done('remove_download', { download: name, client, withData: true })
    expect(preview.text).toMatch(
      /It would remove "Lab.Iso.for.\w+" from \w+ and delete .*B of files for good/,
    )
    await downloads.done('set_download_speed', { limitMiBps: 0, client })

    const { payload } = await downloads.event(
      'download_complete',
      ({ payload: { client: of, name: which } }) => of === client && which === name,
    )
    expect(payload).toEqual({ client, name, size: SIZE, category: 'isos' })
    expect(readFileSync(join(folderOf(client), name)).equals(bytes)).toBe(true)
    const history = await downloads.done('get_download_history', { client, name })
    expect(history.text).toMatch(/completed.* 2.9 MiB, category "isos"/)

    expect((await remove(name, client)).text).toMatch(/was removed from \w+ and 2.9 MiB of it deleted/)
    await until('its file is gone', () => !existsSync(join(folderOf(client), name)))
    await downloads.done('remove_download', { download: name, client: seeder, confirm: true })
    expect(existsSync(join(folderOf(seeder), name))).toBe(true)
  }

  test('a pause for a time ends by itself, also after a restart of this server, for what it stopped only', async () => {
    const [one, two] = await Promise.all([torrent('Lab.One'), torrent('Lab.Two')])
    const clients = ['qbittorrent', 'transmission']
    for (const client of clients) {
      await downloads.done('add_download', { file: one.file, client })
      await downloads.done('add_download', { file: two.file, client, paused: true })
      await downloads.listed(
        'one runs',
        ({ name, client: of, state }) =>
          of === client && name === 'Lab.One' && !['paused', 'checking'].includes(state),
      )
      await downloads.listed(
        'two is held',
        ({ name, client: of, state }) => of === client && name === 'Lab.Two' && state === 'paused',
      )
    }
    const paused = await downloads.done('pause_downloads', { minutes: 1 })
    expect(paused.data['paused']).toEqual(
      clients.map(client => ({ client, stopped: 1, keeper: 'server', resumesAt: expect.any(Number) })),
    )
    const state = join(transmission.folder, 'state.json')
    const kept = JSON.parse(readFileSync(state, 'utf8')) as { pauses: Record<string, { until: number }> }
    expect(Object.keys(kept.pauses).sort()).toEqual(clients)
    for (const client of clients) {
      await downloads.listed(
        'one is held',
        ({ name, client: of, state: now }) => of === client && name === 'Lab.One' && now === 'paused',
      )
    }
    await downloads[Symbol.asyncDispose]()
    // The minute passes while this server is stopped.
    for (const pause of Object.values(kept.pauses)) pause.until = Date.now() - 1
    writeFileSync(state, JSON.stringify(kept))
    downloads = await startDownloads({ ...environment(), DOWNLOADS_STATE: state })
    for (const client of clients) {
      await downloads.listed(
        'one goes on',
        ({ name, client: of, state: now }) => of === client && name === 'Lab.One' && now !== 'paused',
      )
      await downloads.listed(
        'two stays',
        ({ name, client: of, state: now }) => of === client && name === 'Lab.Two' && now === 'paused',
      )
      for (const name of ['Lab.One', 'Lab.Two']) await remove(name, client)
    }
    await until('the state is empty', () => readFileSync(state, 'utf8').startsWith('{"pauses":{}'))
  })

  test('the order and the level of a torrent', async () => {
    const [one, two] = await Promise.all([torrent('Lab.One'), torrent('Lab.Two')])
    for (const client of ['qbittorrent', 'transmission']) {
      for (const { file } of [one, two]) await downloads.done('add_download', { file, client, paused: true })
      await downloads.listed('both are there', ({ name, client: of }) => of === client && name === 'Lab.Two')
      await downloads.done('set_download_priority', { download: 'two', client, priority: 'first' })
      const names = async () => {
        const { data } = await downloads.done('get_download_status', { client })
        return (data['downloads'] as { name: string }[]).map(({ name }) => name).join()
      }
      await until('it is first', async () => (await names()) === 'Lab.Two,Lab.One')
      const low = await downloads.done('set_download_priority', { download: 'two', client, priority: 'low' })
      if (client === 'qbittorrent') {
        expect(low.text).toContain('it is last now')
        await until('it is last', async () => (await names()) === 'Lab.One,Lab.Two')
        expect(
          await downloads.refused('set_download_priority', { download: 'two', client, priority: 'normal' }),
        ).toMatch(/keeps an order of torrents and no levels/)
      }
      for (const name of ['Lab.One', 'Lab.Two']) await remove(name, client)
    }
  })

  test('addresses: a magnet link is known before its files are, one that cannot be loaded is refused', async () => {
    const url = `magnet:?xt=urn:btih:${'c0ffee'.repeat(6)}c0ff&dn=Lab.Magnet`
    for (const client of ['qbittorrent', 'transmission']) {
      const added = await downloads.done('add_download', { url, client })
      expect(added.data).toMatchObject({ id: 'c0ffee'.repeat(6).concat('c0ff'), name: 'Lab.Magnet' })
      await downloads.listed('it is there', ({ name, client: of }) => of === client && name === 'Lab.Magnet')
      await remove('Lab.Magnet', client)
    }
    expect(
      await downloads.refused('add_download', {
        url: 'http://127.0.0.1:1/x.torrent',
        client: 'transmission',
      }),
    ).toMatch(/Transmission refused this.*it says "gotMetadataFromURL/s)
  })

  test('what cannot be written fails, with the reason, once', async () => {
    const { name, bytes, file } = await torrent('Lab.Unwritable')
    await using broken = await start({ downloads: '/dev/null/downloads' })
    await using world = await startDownloads({ ...environment(), QBITTORRENT_URL: broken.url })
    writeFileSync(join(transmission.folder, 'downloads', name), bytes)
    await world.done('add_download', { file, client: 'transmission' })
    const { data } = await world.done('add_download', { file, client: 'qbittorrent' })
    await addPeer(broken.url, String(data['id']), transmission.peerPort)
    const { payload } = await world.event('download_failed')
    expect(payload).toMatchObject({
      client: 'qbittorrent',
      name,
      size: SIZE,
      reason: expect.stringMatching(/Lab.Unwritable/),
    })
    const failed = await world.done('get_download_history', { outcome: 'failed' })
    expect(failed.text).toMatch(/"Lab.Unwritable" \(qbittorrent\): failed, 2.9 MiB, ".*Not a directory/)
    expect(world.world.events().filter(({ type }) => type === 'download_failed')).toHaveLength(1)
    await world.done('remove_download', {
      download: name,
      client: 'transmission',
      withData: true,
      confirm: true,
    })
  })

  test('a disk with less room than is wanted is told of by each', async () => {
    await using warned = await startDownloads({ ...environment(), DOWNLOADS_DISK_FREE: '1000000' })
    for (const client of ['qbittorrent', 'transmission']) {
      const { payload } = await warned.event('disk_full_warning', event => event.payload['client'] === client)
      expect(payload['free']).toBeGreaterThan(0)
    }
  })

  test('wrong passwords are told with their settings, and qBittorrent is not asked again and again', async () => {
    const wrong = { QBITTORRENT_PASSWORD: 'wrong-word', TRANSMISSION_PASSWORD: 'wrong-word' }
    await using world = await startDownloads({ ...environment(), ...wrong, DOWNLOADS_INTERVAL: '1h' })
    const names = { qbittorrent: 'QBITTORRENT_PASSWORD', transmission: 'TRANSMISSION_PASSWORD' }
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
      ['add_download', { url: 'http://127.0.0.1:1/x.torrent' }],
    ]
    for (const [client, setting] of Object.entries(names)) {
      for (const [tool, args] of tools) {
        const text = await world.refused(tool, { ...args, client })
        expect(text).toMatch(new RegExp(`did not accept the (user|key).*${setting}`, 's'))
        expect(text).not.toContain('wrong-word')
      }
    }
    // Five wrong passwords would have banned this machine.
    await downloads.done('get_download_status', { client: 'qbittorrent' })
  })
}
