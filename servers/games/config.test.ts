import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readGamesSettings } from './config.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'games-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const write = (name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const inline = (servers: unknown, more: Record<string, string> = {}) =>
  readGamesSettings({ GAMES_SERVERS: JSON.stringify(servers), ...more })

test('without settings there is no game, and containers are looked at', async () => {
  expect(await readGamesSettings({})).toMatchObject({
    declared: [],
    discover: true,
    host: '127.0.0.1',
    playersInterval: 15_000,
  })
})

test('a YAML file declares games of every backend, with defaults and secrets of the environment', async () => {
  const password = write('rcon', 'from a file\n')
  const GAMES_CONFIG = write(
    'games.yaml',
    `
servers:
  atm-10:
    title: All the Mods 10
    docker: atm10
    query: { type: minecraft, port: 25565 }
    console: { kind: minecraft, port: 25575, password: "\${GAMES_RCON}" }
    commands: ["list", "say *"]
    startSeconds: 300
  arena:
    systemd: { unit: arena.service, user: true }
    console: { kind: quake3, host: nas, port: 27960, passwordFile: ${password} }
    access: read
  script: { process: { command: /srv/run.sh, args: ["-x"], cwd: /srv, env: { A: b } } }
  pod: { kubernetes: { statefulset: mc, namespace: games, context: lab } }
  plain: { docker: { container: c, engine: podman } }
`,
  )
  const { declared } = await readGamesSettings({ GAMES_CONFIG, GAMES_HOST: '10.0.0.2', GAMES_RCON: 's3cret' })
  expect(declared.map(({ name, backend }) => ({ name, backend }))).toEqual([
    { name: 'atm-10', backend: { kind: 'docker', container: 'atm10', engine: undefined } },
    { name: 'arena', backend: { kind: 'systemd', unit: 'arena.service', user: true } },
    {
      name: 'script',
      backend: { kind: 'process', command: '/srv/run.sh', args: ['-x'], cwd: '/srv', env: { A: 'b' } },
    },
    {
      name: 'pod',
      backend: {
        kind: 'kubernetes',
        workload: 'statefulset',
        name: 'mc',
        namespace: 'games',
        context: 'lab',
      },
    },
    { name: 'plain', backend: { kind: 'docker', container: 'c', engine: 'podman' } },
  ])
  expect(declared[0]).toMatchObject({
    title: 'All the Mods 10',
    query: { type: 'minecraft', host: '10.0.0.2', port: 25_565 },
    console: { kind: 'minecraft', host: '10.0.0.2', port: 25_575, password: 's3cret' },
    commands: ['list', 'say *'],
    access: 'full',
    startSeconds: 300,
    stopSeconds: 30,
  })
  expect(declared[1]).toMatchObject({ access: 'read', console: { host: 'nas', password: 'from a file' } })
})

test('the servers may stand alone in GAMES_SERVERS, or below servers', async () => {
  const alone = await inline({ a: { docker: 'a' } })
  const below = await inline({ servers: { a: { docker: 'a' } } })
  expect(alone.declared).toEqual(below.declared)
})

test.each([
  [{ a: {} }, 'servers.a: give exactly one of docker, systemd, process, kubernetes'],
  [{ a: { docker: 'a', systemd: 'b' } }, 'servers.a: give exactly one of'],
  [{ a: { docker: 'a', querry: {} } }, 'servers.a.querry: no such key'],
  [{ a: { docker: { name: 'a' } } }, 'servers.a.docker.name: no such key'],
  [{ a: { docker: 'a', query: { type: 'q3a', port: 'x' } } }, 'servers.a.query.port: '],
  [{ a: { docker: 'a', console: { kind: 'telnet', port: 1, password: 'x' } } }, 'servers.a.console.kind: '],
  [{ a: { docker: 'a', console: { kind: 'source', port: 1 } } }, 'give either password or passwordFile'],
  [
    { a: { docker: 'a', console: { kind: 'source', port: 1, passwordFile: '/no/such' } } },
    'servers.a.console.passwordFile: it cannot be read: ENOENT',
  ],
  [{ a: { kubernetes: { namespace: 'x' } } }, 'servers.a.kubernetes: give either deployment or statefulset'],
  [{ a: { systemd: '-rf' } }, 'servers.a.systemd.unit: a unit such as'],
  [{ a: { docker: 'a', access: 'all' } }, 'servers.a.access: '],
  [{ 'a b': { docker: 'a' } }, 'servers.a b: a name of letters, digits and . _ -'],
  [{ a: { docker: `\${GAMES_NAME}` } }, 'servers.a.docker: the environment has no GAMES_NAME'],
])('%j is refused with the server and the key', async (servers, message) => {
  await expect(inline({ servers })).rejects.toThrow(message)
  await expect(inline({ servers })).rejects.toThrow(/^GAMES_SERVERS: /)
})

test('no message shows a secret', async () => {
  const servers = { a: { docker: 'a', console: { kind: 'source', port: 0, password: 'hunter2' } } }
  const error = await inline({ servers }).catch((thrown: Error) => thrown)
  expect(String(error)).toContain('servers.a.console.port')
  expect(String(error)).not.toContain('hunter2')
})

test.each([
  [{ GAMES_CONFIG: '/no/such.yaml' }, /GAMES_CONFIG is "\/no\/such.yaml", which cannot be read/],
  [{ GAMES_CONFIG: 'a', GAMES_SERVERS: 'b' }, /both set/],
  [{ GAMES_SERVERS: '{"a":' }, /neither YAML nor JSON/],
  [{ GAMES_SERVERS: 'a: [' }, /neither YAML nor JSON/],
  [{ GAMES_PLAYERS_INTERVAL: '1ms' }, /GAMES_PLAYERS_INTERVAL/],
])('%j is refused', async (environment, message) => {
  await expect(readGamesSettings(environment)).rejects.toThrow(message)
})

test('the password of a labelled game comes from a variable or a file', async () => {
  const file = write('rcon', 'from a file\n')
  const { passwordOf } = await readGamesSettings({
    GAMES_PASSWORD_ATM_10: 's3cret',
    GAMES_PASSWORD_ARENA_FILE: file,
  })
  expect([passwordOf('atm-10'), passwordOf('arena'), passwordOf('other')]).toEqual([
    's3cret',
    'from a file',
    undefined,
  ])
})
