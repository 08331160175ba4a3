import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../kit/clock.ts'
import { FAULTS } from '../../kit/testing/faulty-upstream.ts'
import { type ServerWorld, startWorld } from '../../kit/testing/server-world.ts'
import { downloads } from '../server.ts'
import { HASH } from '../testing/fake-parts.ts'
import { type FakeProgram, startFakeProgram } from '../testing/fake-programs.ts'
import type { ClientKind } from '../upstreams/download-client.ts'

const NOW = 1_795_000_600_000
/** A clock with no short waits, a short limit for requests and a fixed time of day. */
const hasty: Clock = {
  ...systemClock,
  now: () => NOW,
  after: (delay, run) => systemClock.after(delay < 5000 ? 0 : delay / 10, run),
}
const NZB = Buffer.from('<?xml version="1.0"?><nzb xmlns="x"><file/></nzb>').toString('base64')
const MAGNET = `magnet:?xt=urn:btih:${'d'.repeat(40)}&dn=Lab.New`
const TITLES = { sabnzbd: 'SABnzbd', qbittorrent: 'qBittorrent', transmission: 'Transmission' }

const ask = (kind: ClientKind): [string, Record<string, unknown>][] => [
  ['get_download_status', {}],
  ['get_download_history', {}],
  ['pause_downloads', {}],
  ['pause_downloads', { minutes: 5 }],
  ['resume_downloads', {}],
  ['pause_download', { download: 'lab show' }],
  ['resume_download', { download: 'lab show' }],
  ['set_download_speed', { limitMiBps: 2 }],
  ['set_download_priority', { download: 'lab show', priority: 'first' }],
  ['add_download', kind === 'sabnzbd' ? { file: NZB } : { url: MAGNET }],
  ['remove_download', { download: 'lab show', withData: true, confirm: true }],
]

const rpc = (method: string, args: unknown) => JSON.stringify({ method, arguments: args })
/** The requests that `ask` causes, tool by tool. */
const CHANGES: Record<ClientKind, string[]> = {
  sabnzbd: [
    '/api mode=pause',
    '/api mode=config name=set_pause value=5',
    '/api mode=resume',
    '/api mode=queue name=pause value=SABnzbd_nzo_1',
    '/api mode=queue name=resume value=SABnzbd_nzo_1',
    '/api mode=config name=speedlimit value=2097152',
    '/api mode=switch value=SABnzbd_nzo_1 value2=0',
    '/api mode=addfile file=download.nzb',
    '/api mode=queue name=delete value=SABnzbd_nzo_1 del_files=1',
  ],
  qbittorrent: [
    `/api/v2/torrents/stop hashes=${HASH}`,
    `/api/v2/torrents/stop hashes=${HASH}`,
    `/api/v2/torrents/start hashes=${HASH}`,
    `/api/v2/torrents/stop hashes=${HASH}`,
    `/api/v2/torrents/start hashes=${HASH}`,
    '/api/v2/transfer/setDownloadLimit limit=2097152',
    `/api/v2/torrents/topPrio hashes=${HASH}`,
    `/api/v2/torrents/add urls=${MAGNET}`,
    `/api/v2/torrents/delete hashes=${HASH} deleteFiles=true`,
  ],
  transmission: [
    rpc('torrent-stop', { ids: [HASH] }),
    rpc('torrent-stop', { ids: [HASH] }),
    rpc('torrent-start', { ids: [HASH] }),
    rpc('torrent-stop', { ids: [HASH] }),
    rpc('torrent-start', { ids: [HASH] }),
    rpc('session-set', {
      'speed-limit-down-enabled': true,
      'speed-limit-down': 2097,
      'alt-speed-enabled': false,
    }),
    rpc('torrent-set', { ids: [HASH], bandwidthPriority: 1 }),
    rpc('queue-move-top', { ids: [HASH] }),
    rpc('torrent-add', { filename: MAGNET, paused: false }),
    rpc('torrent-remove', { ids: [HASH], 'delete-local-data': true }),
  ],
}

describe.each(['sabnzbd', 'qbittorrent', 'transmission'] as const)('%s', kind => {
  let program: FakeProgram
  let world: ServerWorld
  beforeEach(async () => {
    program = await startFakeProgram(kind)
    world = await startWorld(downloads, {
      clock: hasty,
      environment: program.environment,
      watchers: false,
    })
  })
  afterEach(async () => {
    await world[Symbol.asyncDispose]()
    await program.upstream[Symbol.asyncDispose]()
  })

  test('the status tells each download and the client as a whole', async () => {
    const { data, text, untrusted } = await world.call('get_download_status')
    expect(data['clients']).toMatchObject([
      { client: kind, kind, paused: false, bytesPerSecond: 2_097_152, freeBytes: 100 * 2 ** 30 },
    ])
    expect((data['downloads'] as unknown[])[0]).toMatchObject({
      client: kind,
      name: 'Lab.Show.S01E01',
      state: 'downloading',
      percent: 50,
      etaSeconds: 512,
      category: 'tv',
    })
    expect(untrusted).toBe(true)
    expect(text).toContain(
      `- "Lab.Show.S01E01" (${kind}): downloading at 50 % of 2 GiB, 2 MiB/s, 8 min left, category "tv".`,
    )
    expect(text).toMatch(new RegExp(`^${kind}: 2 MiB/s, .* left to load, limit 4 MiB/s, 100 GiB free\\.`))
    const paused = await world.call('get_download_status', { state: 'paused' })
    expect(paused.text).toContain('None is paused.')
  })

  test('the history tells what completed and what failed, and why', async () => {
    const { data, text } = await world.call('get_download_history')
    expect(data).toMatchObject({ completed: 1, failedDownloads: 1, total: 2 })
    expect(text).toMatch(
      new RegExp(`- "Lab.Film.2026" \\(${kind}\\): completed 10 min ago, 3 GiB, category "(movies|tv)"`),
    )
    const failed = await world.call('get_download_history', { outcome: 'failed', name: 'BROKEN' })
    expect(failed.data['downloads']).toMatchObject([
      { name: 'Lab.Broken', outcome: 'failed', reason: expect.stringMatching(/No space left|Aborted/) },
    ])
    expect((await world.call('get_download_history', { limit: 1 })).text).toContain(
      '1 of 2 downloads; call again with offset 1 for more.',
    )
  })

  test('a removal says what it would do, and does it when it is confirmed', async () => {
    const args = { download: 'Lab.Show.S01E01', withData: true }
    const preview = await world.call('remove_download', args)
    expect(preview.data).toMatchObject({ done: false, deletedBytes: 2 ** 30 })
    expect(preview.text).toContain(
      `It would remove "Lab.Show.S01E01" from ${kind} and delete 1 GiB of files for good.`,
    )
    expect(program.changes()).toEqual([])
    const done = await world.call('remove_download', { ...args, confirm: true })
    expect(done.text).toContain(`"Lab.Show.S01E01" was removed from ${kind} and 1 GiB of it deleted.`)
    expect(program.changes()).toHaveLength(1)
    const kept = await world.call('remove_download', { download: 'Lab.Film.2026' })
    expect(kept.text).toContain('and keep its files')
  })

  test('what it is to do is what it is asked', async () => {
    for (const [tool, args] of ask(kind).slice(2)) {
      const called = await world.call(tool, args)
      expect(called.isError, `${tool}: ${called.text}`).toBe(false)
    }
    expect(program.changes()).toEqual(CHANGES[kind])
  })

  test.each(Object.entries(FAULTS))(
    '%s is told by every tool, and nothing else is',
    async (_fault, answer) => {
      program.upstream.will(answer)
      const calls = ask(kind).map(async ([tool, args]) => ({ tool, called: await world.call(tool, args) }))
      for (const { tool, called } of await Promise.all(calls)) {
        const { isError, text } = called
        expect(isError, tool).toBe(true)
        expect(text).toMatch(new RegExp(`${TITLES[kind]}|took too long`))
        expect(text).toMatch(/^Why: .+\nWhat to do: .+/m)
        expect(text).not.toMatch(/the-key|pass-word/)
      }
    },
  )

  test('one that is down is told with its address, and its health says so', async () => {
    expect(await world.health()).toMatchObject({ ok: true, upstreams: [{ name: kind, ok: true }] })
    await program.upstream[Symbol.asyncDispose]()
    for (const [tool, args] of ask(kind)) {
      const { isError, text } = await world.call(tool, args)
      expect(isError, tool).toBe(true)
      expect(text).toMatch(/could not be reached at http:\/\/127\.0\.0\.1:\d+.*nothing listens/s)
    }
    expect(await world.health()).toMatchObject({ ok: false, upstreams: [{ ok: false }] })
  })

  test('where tools may change but not remove, removing is refused with the setting', async () => {
    const environment = { ...program.environment, [`${kind.toUpperCase()}_ACCESS`]: 'change' }
    await using limited = await startWorld(downloads, { clock: hasty, environment, watchers: false })
    expect((await limited.call('pause_downloads')).isError).toBe(false)
    const [remove, args] = ask(kind).at(-1) ?? ['', {}]
    for (const given of [args, { ...args, confirm: false }])
      expect((await limited.call(remove, given)).text).toMatch(/Where: \w+_ACCESS/)
  })

  test('where tools may only read, every change is refused with the setting', async () => {
    const environment = { ...program.environment, [`${kind.toUpperCase()}_ACCESS`]: 'read' }
    await using limited = await startWorld(downloads, { clock: hasty, environment, watchers: false })
    for (const [tool, args] of ask(kind).slice(2)) {
      expect((await limited.call(tool, args)).text).toMatch(new RegExp(`Where: ${kind.toUpperCase()}_ACCESS`))
    }
    expect(program.changes()).toEqual([])
  })
})

describe('several clients', () => {
  let programs: FakeProgram[]
  let world: ServerWorld
  beforeEach(async () => {
    programs = await Promise.all((['sabnzbd', 'qbittorrent'] as const).map(startFakeProgram))
    const environment = Object.assign({}, ...programs.map(program => program.environment)) as Record<
      string,
      string
    >
    world = await startWorld(downloads, { clock: hasty, environment, watchers: false })
  })
  afterEach(async () => {
    await world[Symbol.asyncDispose]()
    for (const { upstream } of programs) await upstream[Symbol.asyncDispose]()
  })

  test('one that is down keeps no other from it, and is told', async () => {
    await programs[0]?.upstream[Symbol.asyncDispose]()
    const paused = await world.call('pause_downloads')
    expect(paused).toMatchObject({
      isError: false,
      data: { paused: [{ client: 'qbittorrent' }], failed: [{ client: 'sabnzbd' }] },
    })
    expect(paused.text).toMatch(/^qbittorrent is paused.*\nsabnzbd failed: SABnzbd could not be reached/)
    const looked = await world.call('get_download_status')
    expect(looked.data).toMatchObject({
      clients: [{ client: 'qbittorrent' }],
      failed: [{ client: 'sabnzbd' }],
    })
    const missed = await world.call('pause_download', { download: 'nothing like it' })
    expect(missed.text).toMatch(/no unfinished download is called.*sabnzbd failed: SABnzbd could not/s)
    expect((await world.call('pause_downloads', { client: 'sabnzbd' })).isError).toBe(true)
  })

  test('all that are down are told together', async () => {
    for (const { upstream } of programs) await upstream[Symbol.asyncDispose]()
    expect((await world.call('get_download_status')).text).toMatch(
      /^No download client could be asked\..*SABnzbd could not.*qBittorrent could not/s,
    )
  })

  test('a name that two have is not guessed; with client or an id it is found', async () => {
    const both = await world.call('pause_download', { download: 'lab show' })
    expect(both.text).toMatch(/2 downloads fit "lab show".*\(sabnzbd\), "Lab.Show.S01E01" \(qbittorrent\)/s)
    expect((await world.call('pause_download', { download: HASH })).text).toMatch(/is paused \(qbittorrent\)/)
    const named = await world.call('pause_download', { download: 'lab show', client: 'sabnzbd' })
    expect(named.text).toMatch(/is paused \(sabnzbd\)/)
    expect((await world.call('pause_download', { download: 'x', client: 'nzbget' })).text).toMatch(
      /client: .*"sabnzbd"\|"qbittorrent"/,
    )
  })

  test('what is added goes to who takes it; an address that does not tell needs a client', async () => {
    expect((await world.call('add_download', { file: NZB })).data).toMatchObject({ client: 'sabnzbd' })
    expect((await world.call('add_download', { url: MAGNET })).data).toMatchObject({ client: 'qbittorrent' })
    const torrent = await world.call('add_download', { url: 'http://nas/a.torrent' })
    expect(torrent.data).toMatchObject({ client: 'qbittorrent', added: true })
    expect((await world.call('add_download', { url: 'http://nas/download?id=1' })).text).toMatch(
      /does not say whether it is a torrent or an NZB file.*sabnzbd for NZB files, qbittorrent for torrents/s,
    )
  })

  test.each([
    ['file:///etc/passwd', 'file addresses are not taken'],
    ['ftp://nas/a.torrent', 'ftp addresses are not taken'],
    ['/etc/passwd', 'it is no address'],
    ['magnet:?dn=x', 'names no torrent'],
    ['http://', 'no valid address'],
  ])('%s is not given to any client', async (url, why) => {
    const { isError, text } = await world.call('add_download', { url })
    expect([isError, text.includes(why)]).toEqual([true, true])
    expect(programs.flatMap(program => program.changes())).toEqual([])
  })
})

test('without any client every tool says which settings it lacks', async () => {
  await using world = await startWorld(downloads, { clock: hasty, environment: {} })
  for (const [tool, args] of ask('sabnzbd')) {
    const { isError, text } = await world.call(tool, args)
    expect(isError).toBe(true)
    expect(text).toMatch(/No download client is configured here.*SABNZBD_URL and SABNZBD_API_KEY/s)
  }
})
