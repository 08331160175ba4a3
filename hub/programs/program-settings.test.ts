import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { startFakeDocker } from '../../servers/kit/testing/fake-docker.ts'
import { OWNER_PRINCIPAL } from '../../tests/support/principals.ts'
import type { ConfigChange } from '../config/config-editor.ts'
import { createEnvironment } from '../config/environment.ts'
import { loadConfig } from '../config/load.ts'
import { systemClock } from '../core/clock.ts'
import { SABNZBD_KEY, startSabnzbd } from '../demo/sabnzbd.ts'
import { createProgramSettings } from './program-settings.ts'
import { PROGRAMS } from './programs.ts'

const folder = mkdtempSync(join(tmpdir(), 'superbloom-programs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
afterEach(() => vi.unstubAllEnvs())
const environment = createEnvironment({
  SUPERBLOOM_DATA: folder,
  SUPERBLOOM_CONFIG: join(folder, 'none.yaml'),
})

function open(text = '') {
  const written: ConfigChange[] = []
  const programs = createProgramSettings({
    config: { current: loadConfig(environment, text) },
    editor: {
      file: 'superbloom.yaml',
      read: () => text,
      change: async changes => {
        written.push(...changes)
        return { file: 'superbloom.yaml' }
      },
    },
    hosts: ['127.0.0.1'],
    clock: systemClock,
  })
  return { programs, written }
}

/** Nothing listens there. */
const NOWHERE: Record<string, string> = {
  URL: 'http://127.0.0.1:1',
  WEBHOOK_URL: 'http://127.0.0.1:1/api/webhooks/1/secret',
  FROM: 'hub@example.org',
  TO: 'me@example.org',
}
const OTHER_URLS: Record<string, string> = { ntfy: 'http://127.0.0.1:1/topic', email: 'smtp://127.0.0.1:1' }

test.each(
  PROGRAMS.filter(({ settings }) => settings.length > 0).map(program => [program.name, program] as const),
)(
  'the server takes the settings of %s, and says that it does not answer',
  async (name, { settings, title }) => {
    const filled = settings.map(({ key }) => [
      key,
      (key === 'URL' && OTHER_URLS[name]) || NOWHERE[key] || 'a-secret-word',
    ])
    const both = settings.some(({ key }) => key === 'TOKEN') ? ['USERNAME', 'PASSWORD'] : []
    const given = Object.fromEntries(filled.filter(([key]) => !both.includes(String(key))))
    const findings = await open().programs.try({ program: name, settings: given })
    expect(findings).toEqual([{ level: 'problem', what: expect.stringMatching(/^does not work yet: /) }])
    expect(JSON.stringify(findings)).not.toContain('secret')
    expect(title.length).toBeGreaterThan(0)
  },
)

test('a program that answers says so; a wrong key is a problem that names no key', async () => {
  await using lab = await startSabnzbd({})
  const { programs } = open()
  const choice = (key: string) => ({ program: 'sabnzbd', settings: { URL: lab.url, API_KEY: key } })
  expect(await programs.try(choice(SABNZBD_KEY))).toEqual([
    { level: 'ok', what: expect.stringMatching(/^answers at http.*, version 4\.5\.0$/) },
  ])
  const [refused] = await programs.try(choice('wrong-key-of-sabnzbd'))
  expect(refused).toEqual({
    level: 'problem',
    what: expect.stringContaining('SABnzbd did not accept the key'),
  })
  expect(refused?.what).not.toContain('wrong-key')
})

test('Docker is found where its socket answers, and is tried there', async () => {
  await using docker = await startFakeDocker()
  vi.stubEnv('DOCKER_HOST', docker.url)
  const engine = expect.objectContaining({ title: 'Docker', version: '28.1.1', isConnected: false })
  expect(await open().programs.find()).toContainEqual(engine)
  const connected = open('servers: { games: { env: { GAMES_DISCOVER: "true" } } }\n').programs
  expect(await connected.find()).toContainEqual(
    expect.objectContaining({ program: 'docker', isConnected: true }),
  )
  const choice = { program: 'docker', settings: {} }
  expect(await connected.try(choice)).toContainEqual({ level: 'ok', what: expect.stringContaining('28.1.1') })
})

test('a program that takes the place of another one says so, and one with a name does not', async () => {
  const config = 'servers: { media: { env: { RADARR_URL: "http://nas:7878", RADARR_API_KEY: a } } }\n'
  const { programs } = open(config)
  const choice = { program: 'radarr', settings: { URL: 'http://127.0.0.1:1', API_KEY: 'b' } }
  expect((await programs.try(choice)).at(-1)).toEqual({
    level: 'warning',
    what: 'takes the place of Radarr at nas:7878: give this one a name to keep both',
  })
  expect((await programs.try({ ...choice, name: '4k' })).at(-1)?.level).toBe('problem')
  expect(programs.list().find(({ program }) => program === 'radarr')?.connected).toEqual(['nas:7878'])
})

test.each([
  [
    'sets the variables, and takes away what a program before it had',
    '',
    { program: 'qbittorrent', settings: { URL: 'nas:8080', USERNAME: '' } },
    [
      [['servers', 'downloads', 'env', 'QBITTORRENT_URL'], 'nas:8080'],
      [['servers', 'downloads', 'env', 'QBITTORRENT_USERNAME'], undefined],
      [['servers', 'downloads', 'env', 'QBITTORRENT_PASSWORD'], undefined],
    ],
  ],
  [
    'puts a name between',
    'mcpServers: { media: { disabled: true } }\n',
    { program: 'radarr', name: 'living-room', settings: { URL: 'nas:1', API_KEY: 'k' } },
    [
      [['mcpServers', 'media', 'disabled'], undefined],
      [['mcpServers', 'media', 'env', 'RADARR_LIVING_ROOM_URL'], 'nas:1'],
      [['mcpServers', 'media', 'env', 'RADARR_LIVING_ROOM_API_KEY'], 'k'],
    ],
  ],
  [
    'switches the discovery of games on',
    '',
    { program: 'docker', settings: {} },
    [[['servers', 'games', 'env', 'GAMES_DISCOVER'], 'true']],
  ],
])('connecting %s', async (_what, config, choice, changes) => {
  const { programs, written } = open(config)
  await programs.set(choice, OWNER_PRINCIPAL)
  expect(written).toEqual(changes)
})

test.each([
  ['no such program', '', { program: 'plex', settings: {} }, /no program plex; there is sabnzbd, /],
  ['a setting is missing', '', { program: 'radarr', settings: { URL: 'nas' } }, /Radarr needs its API_KEY/],
  ['a setting is unknown', '', { program: 'docker', settings: { A: 'b' } }, /no setting A/],
  ['a second one of its kind', '', { program: 'docker', name: 'b', settings: {} }, /there is one only/],
  [
    "the server's name is another server's",
    'servers: { games: { url: "https://example.org/mcp" } }\n',
    { program: 'docker', settings: {} },
    /A server of your own is called games/,
  ],
])('nothing is written where %s', async (_what, config, choice, words) => {
  const { programs, written } = open(config)
  await expect(programs.set(choice, OWNER_PRINCIPAL)).rejects.toThrow(words)
  expect(written).toEqual([])
})
