import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { eventPayloads } from '../../schemas/events.ts'
import { systemClock } from '../kit/clock.ts'
import { SettingsError } from '../kit/env.ts'
import { createFakeClock } from '../kit/testing/fake-clock.ts'
import { startWorld } from '../kit/testing/server-world.ts'
import {
  qbittorrentSpec,
  readDownloadsSettings,
  sabnzbdSpec,
  settingsTable,
  transmissionSpec,
} from './config.ts'
import { downloads } from './server.ts'
import { openState } from './state.ts'
import { startFakeProgram } from './testing/fake-programs.ts'
import { openClients } from './upstreams/clients.ts'

const README = readFileSync(new URL('./README.md', import.meta.url), 'utf8')
const GIB = 2 ** 30

test('the defaults', () => {
  expect(readDownloadsSettings({ HOME: '/home/me' })).toEqual({
    interval: 15_000,
    diskFree: 5 * GIB,
    diskClear: GIB,
    stateFile: '/home/me/.local/state/superbloom/downloads.json',
    sabnzbd: [],
    qbittorrent: [],
    transmission: [],
  })
  expect(readDownloadsSettings({}).stateFile).toBeUndefined()
  expect(readDownloadsSettings({ HOME: '/h', XDG_STATE_HOME: '/s' }).stateFile).toBe(
    '/s/superbloom/downloads.json',
  )
  const SUPERBLOOM_DATA = '/srv/data'
  expect(readDownloadsSettings({ HOME: '/h', SUPERBLOOM_DATA }).stateFile).toBe('/srv/data/downloads.json')
  expect(readDownloadsSettings({ SUPERBLOOM_DATA, DOWNLOADS_STATE: '/d/x.json' }).stateFile).toBe('/d/x.json')
})

test.each([
  [{ DOWNLOADS_INTERVAL: '1ms' }, /DOWNLOADS_INTERVAL is "1ms"/],
  [{ DOWNLOADS_DISK_FREE: '5 GiB' }, /DOWNLOADS_DISK_FREE is "5 GiB"/],
  [{ DOWNLOADS_STATE: 'x' }, /DOWNLOADS_STATE is "x"/],
])('%j is refused with what is wrong', (environment, message) => {
  expect(() => readDownloadsSettings(environment)).toThrow(SettingsError)
  expect(() => readDownloadsSettings(environment)).toThrow(message)
})

test.each([
  [{ SABNZBD_URL: 'http://nas' }, /SABNZBD_API_KEY is not set.*Config > General/],
  [{ SABNZBD_API_KEY: 'k' }, /SABNZBD_URL is not set/],
  [{ QBITTORRENT_URL: 'http://me:secret@nas' }, /^QBITTORRENT_URL is set to something else/],
  [
    { TRANSMISSION_URL: 'http://nas', TRANSMISSION_PASWORD: 'x' },
    /TRANSMISSION_PASWORD is not a setting; there are .*TRANSMISSION_PASSWORD/,
  ],
])('%j disables this client, and says why', (environment, message) => {
  const { sabnzbd, qbittorrent, transmission } = readDownloadsSettings(environment)
  expect([...sabnzbd, ...qbittorrent, ...transmission].map(({ problem }) => problem)).toEqual([
    expect.stringMatching(message),
  ])
})

test('a host and a port are an address', () => {
  const [transmission] = readDownloadsSettings({ TRANSMISSION_URL: 'nas:9091' }).transmission
  expect([transmission?.settings.URL, transmission?.problem]).toEqual(['http://nas:9091', undefined])
})

test('a wrong address takes no other client away', async () => {
  const program = await startFakeProgram('qbittorrent')
  await using _ = program.upstream
  const environment = { ...program.environment, TRANSMISSION_URL: 'nas:port', SABNZBD_URL: 'http://nas' }
  await using world = await startWorld(downloads, { clock: systemClock, environment })
  const { isError, text, data } = await world.call('get_download_status')
  expect([isError, data['total']]).toEqual([false, 2])
  expect(text).toMatch(
    /transmission failed: Transmission cannot be used: its settings are wrong\. Why: TRANSMISSION_URL/,
  )
  expect(text).toMatch(/sabnzbd failed: .*SABNZBD_API_KEY is not set/)
  const url = `magnet:?xt=urn:btih:${'d'.repeat(40)}`
  expect((await world.call('add_download', { url })).data).toMatchObject({ client: 'qbittorrent' })
  expect((await world.call('pause_downloads', { client: 'transmission' })).isError).toBe(true)
  const health = await world.health()
  expect(health?.upstreams.map(({ name, ok, address }) => [name, ok, address])).toEqual([
    ['sabnzbd', false, 'SABNZBD_URL'],
    ['qbittorrent', true, program.upstream.url],
    ['transmission', false, 'TRANSMISSION_URL'],
  ])
  expect(world.logged.filter(({ event }) => event.startsWith('watcher'))).toEqual([])
})

test('instances have names of their own, also where two programs share one', () => {
  const settings = readDownloadsSettings({
    SABNZBD_URL: 'http://a',
    SABNZBD_API_KEY: 'k',
    SABNZBD_ATTIC_URL: 'http://b',
    SABNZBD_ATTIC_API_KEY: 'k',
    QBITTORRENT_ATTIC_URL: 'http://c',
    TRANSMISSION_SEEDBOX_URL: 'http://d',
  })
  const opened = openClients(settings, {
    clock: createFakeClock(),
    state: openState(undefined, () => undefined),
  })
  expect(opened.map(({ name, title }) => [name, title])).toEqual([
    ['sabnzbd', 'SABnzbd'],
    ['sabnzbd-attic', 'SABnzbd (attic)'],
    ['qbittorrent-attic', 'qBittorrent (attic)'],
    ['seedbox', 'Transmission (seedbox)'],
  ])
})

test('the README lists every setting with its default, every tool and every event, and no others', async () => {
  await using world = await startWorld(downloads, { clock: createFakeClock(), environment: {} })
  const rowsOf = (pattern: RegExp) => [...README.matchAll(pattern)].map(match => match[1])
  const own = Object.keys(settingsTable)
  const clients = [sabnzbdSpec, qbittorrentSpec, transmissionSpec].flatMap(({ prefix, settings }) =>
    Object.keys(settings).map(key => `${prefix}_${key}`),
  )
  expect(rowsOf(/^\| `([A-Z_]+)` +\|/gm).sort()).toEqual([...own, ...clients].sort())
  for (const [name, setting] of Object.entries(settingsTable)) {
    if (setting.default === undefined) continue
    expect(README).toMatch(new RegExp(`^\\| \`${name}\` +\\|.*\\| ${setting.default} +\\|$`, 'm'))
  }
  expect(rowsOf(/^\| `([a-z]+_downloads?(?:_\w+)?)` +\|/gm)).toEqual(world.listed().map(({ name }) => name))
  expect(rowsOf(/^\| `((?:download|disk_full)_\w+)` +\|/gm)).toEqual(
    Object.keys(eventPayloads).filter(type => /^(download|disk_full)_/.test(type)),
  )
})
