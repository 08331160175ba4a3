import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { builtIns } from '../../hub/config/built-ins.ts'
import { ASKING_REQUESTS, ORDINARY_REQUESTS } from '../lab/ordinary-requests.ts'
import { until } from '../support/until.ts'
import { type ComposeHomelab, openComposeHomelab } from './setup/compose-homelab.ts'
import {
  type BuiltImage,
  buildImage,
  findCompose2,
  openProject,
  type Project,
  untilHealthy,
} from './setup/compose-project.ts'

/*
 * Runs the image and the unchanged docker-compose.yml in a real Docker with its own network. The image's base
 * is made here, so that no registry is needed.
 */

const MINUTE = 60_000
const run = promisify(execFile)
const SERVERS = builtIns.map(({ name }) => name)
/** Tools that need Docker's socket, a game's port, and a program beside Docker. */
const THROUGH_CONTAINERS = [
  ...['get_container_status', 'start_game_server', 'stop_game_server', 'get_player_count'],
  ...['get_download_status', 'pause_downloads', 'pause_download'],
]

let image: BuiltImage
beforeAll(async () => {
  image = await buildImage()
}, 20 * MINUTE)
afterAll(() => image?.[Symbol.dispose](), 10 * MINUTE)

/** The folder of the owner's token in `secrets`; those of the servers have their names. */
const OWNER = '.'

function readToken(name: string): string {
  const token = readFileSync(join(image.folder, 'secrets', name, 'token'), 'utf8')
  expect(token).toMatch(/^[0-9a-f]{48}$/)
  return token
}

/** Fetches from a port that Docker publishes, as a program on the machine does; returns status and body. */
async function fetchOnMachine({ daemon }: Project, url: string, token = ''): Promise<string> {
  const script = `fetch(${JSON.stringify(url)}, { headers: { Authorization: 'Bearer ${token}' } })
    .then(async answer => console.log(answer.status, await answer.text()), error => console.log(error.cause.code))`
  const enter = ['--net', '--target', String(daemon.pid), process.execPath, '-e', script]
  return (await run('nsenter', enter)).stdout.trim()
}

describe('Compose, with a / that passes no mounts on', () => {
  let project: Project
  const superbloom = (...words: string[]) => project.execute('hub', 'superbloom', ...words)

  beforeAll(async () => {
    project = await openProject(image)
    await project.compose('up', '-d')
    await untilHealthy(project)
  }, 5 * MINUTE)
  afterAll(() => project?.[Symbol.asyncDispose](), 2 * MINUTE)

  test('the hub is published to this machine alone, and asks for the token', async () => {
    const { hub } = await project.services()
    const ports = await project.daemon.docker(
      'inspect',
      '-f',
      '{{json .NetworkSettings.Ports}}',
      hub?.id ?? '',
    )
    expect(JSON.parse(ports)).toEqual({ '8420/tcp': [{ HostIp: '127.0.0.1', HostPort: '8420' }] })
    expect(await fetchOnMachine(project, 'http://127.0.0.1:8420/readyz')).toMatch(/^200 /)
    expect(await fetchOnMachine(project, 'http://127.0.0.1:8420/mcp')).toMatch(/^401 /)
    expect(await fetchOnMachine(project, 'http://127.0.0.1:8420/mcp', readToken(OWNER))).toMatch(
      /^4(?!01)\d\d /,
    )
  })

  test('doctor finds all well: the built-in servers that the config replaces are nothing to mend', async () => {
    const said = await superbloom('doctor')
    for (const name of SERVERS) {
      expect(said).toMatch(new RegExp(`^ok +server ${name}: ready, `, 'm'))
      expect(said).toMatch(new RegExp(`^ok +server ${name}: replaced: `, 'm'))
    }
    expect(said).toMatch(/^All is well\.$/m)
  })

  test('metrics tells about the machine, not about its container', async () => {
    expect(await superbloom('ask', 'homelab', 'how is this machine doing?')).toMatch(/^CPU .* cores/m)
    expect(await superbloom('ask', 'homelab', '/call get_processes {"limit":100}')).toContain('dockerd')
  })

  test('a server asks the other containers for its own token, also the owner', async () => {
    const ask = (name: string) => {
      const headers = `{ Authorization: 'Bearer ${readToken(name)}' }`
      const script = `fetch('http://games:8431/mcp', { method: 'POST', headers: ${headers} }).then(({ status }) => console.log(status))`
      return project.execute('hub', 'node', '-e', script)
    }
    expect(await ask('media')).toBe('401')
    expect(await ask(OWNER)).toBe('401')
    expect(await ask('games')).toMatch(/^4(?!01)\d\d$/)
  })

  test('a container sees the token of its own server alone', async () => {
    const { hub, ...others } = await project.services()
    const secrets = [OWNER, ...SERVERS].map(name => readToken(name))
    expect(new Set(secrets).size).toBe(secrets.length)
    const hubPid = await project.daemon.docker('inspect', '-f', '{{.State.Pid}}', hub?.id ?? '')
    for (const name of SERVERS) {
      const places = ['/secrets', `/host${image.folder}/secrets`, `/proc/${hubPid}/root/secrets`]
      const tokens = places.flatMap(place => ['.', ...SERVERS].map(each => `${place}/${each}/token`))
      const files = [...tokens, '/data', '/config', `/proc/${hubPid}/root/data`, '/proc/*/environ'].join(' ')
      const script = `env; cat /proc/*/cmdline; cat $(find ${files} -type f)`
      const seen = await project.execute(name, 'sh', '-c', `(${script}) 2>/dev/null; true`)
      expect(secrets.filter(secret => seen.includes(secret))).toEqual([readToken(name)])
      expect(seen).not.toContain('SERVER_TOKEN_GAMES_FILE')
      const inspected = await project.daemon.docker('inspect', others[name]?.id ?? '')
      expect(secrets.filter(secret => inspected.includes(secret))).toEqual([])
    }
  })

  test('tokens that exist are kept', async () => {
    const before = [OWNER, ...SERVERS].map(name => readToken(name))
    await project.compose('up', '-d', '--force-recreate', 'tokens')
    await until('it has ended', async () => (await project.services())['tokens']?.status === 'exited')
    expect([OWNER, ...SERVERS].map(name => readToken(name))).toEqual(before)
  })

  test(
    'killed, the hub is there again with what it knew; and so it is after down and up',
    async () => {
      await superbloom('ask', 'homelab', '/call store_context {"key": "nas", "value": "10.0.0.5"}')
      const knows = () => superbloom('ask', 'homelab', '/call get_context {}').catch(() => '')
      const untilKnown = (when: string) =>
        until(`it knows ${when}`, async () => (await knows()).includes('10.0.0.5'), { within: MINUTE })
      const { hub } = await project.services()
      const pid = () => project.daemon.docker('inspect', '-f', '{{.State.Pid}}', hub?.id ?? '')
      const before = await pid()
      process.kill(Number(before), 'SIGKILL')
      await until('Docker starts it again', async () => !['0', before].includes(await pid()), {
        within: MINUTE,
      })
      await untilKnown('after a kill')
      await project.compose('down')
      await project.compose('up', '-d')
      await untilKnown('after down and up')
    },
    3 * MINUTE,
  )

  describe('with the programs of a homelab, set as docs/docker.md says', { timeout: 10 * MINUTE }, () => {
    let home: ComposeHomelab
    beforeAll(async () => {
      home = await openComposeHomelab(project)
      await project.compose('up', '-d')
      await until('every server is ready', areReady, { within: MINUTE })
    }, 5 * MINUTE)
    afterAll(() => home?.[Symbol.asyncDispose](), MINUTE)

    const areReady = async () => {
      const said = await superbloom('servers').catch(() => '')
      return SERVERS.every(name => said.includes(`${name}: ready, `))
    }
    const ask = (text: string) => superbloom('ask', 'homelab', text)
    const untilPaused = (paused: boolean) =>
      until(`SABnzbd says paused: ${paused}`, async () => (await home.sabnzbd()).paused === paused)
    const hasEvent = async (type: string) => (await superbloom('events', '--type', type)) !== 'No events.'

    test('44 ordinary requests ask nobody for a yes', async () => {
      for (const [text] of ORDINARY_REQUESTS) expect([text, await ask(text)]).toEqual([text, 'Done.'])
      expect(await superbloom('approvals', '--all')).not.toContain('apr_')
      const rows = (await superbloom('audit', '--actor', 'agent:homelab', '--json')).split('\n')
      const calls = rows.map(row => JSON.parse(row) as { tool: string; outcome: string })
      const done = calls.flatMap(({ tool, outcome }) => (outcome === 'ok' ? tool : []))
      expect(done).toEqual(expect.arrayContaining(THROUGH_CONTAINERS))
    })

    test('story 1, a slow game server: the downloads pause, the phone is told, and they go on later', async () => {
      // The watcher asks every 15 seconds.
      await home.arena.joinUntil(() => hasEvent('player_joined'), MINUTE / 2)
      const answered = ask('The game server is slow')
      await untilPaused(true)
      const pausedAt = performance.now()
      expect(await answered).toContain('I paused them')
      expect(await home.published('phone')).toEqual(['Downloads are paused so that lab-arena runs well.'])
      await untilPaused(false)
      expect(performance.now() - pausedAt).toBeGreaterThan(5_000)
    })

    test('story 2, a hot machine: one warning, looks again while it is hot, and silence once it is cool', async () => {
      const told = await home.published('phone')
      home.host.setTemperature(91)
      await until('the phone is warned', async () => (await home.published('phone')).length > told.length)
      // One request to the model ends the warning, and two check a machine that is still hot.
      const { asked } = home.model
      await until('it looks again', () => home.model.asked >= asked + 3)
      home.host.setTemperature(52)
      await until('it looks no more', async () => {
        const before = home.model.asked
        const planned = await superbloom('schedules')
        return !planned.includes('is it cooler?') && home.model.asked === before
      })
      expect(await home.published('phone')).toEqual([...told, 'The CPU runs hot. I look again in a while.'])
    })

    test('story 3, an empty game server: its container is stopped after a while, which is no crash', async () => {
      expect(await home.arena.state()).toBe('running')
      await home.arena.leave()
      await until('it is stopped', async () => (await home.arena.state()) === 'exited')
      expect(await hasEvent('server_crash')).toBe(false)
    })

    test('all of that asked nobody; what destroys does', async () => {
      expect(await superbloom('approvals', '--all')).not.toContain('apr_')
      for (const [text, tool] of ASKING_REQUESTS)
        await expect(ask(text)).rejects.toThrow(
          new RegExp(`Waits for your yes: \\d+\\. apr_\\w+ homelab: ${tool} `),
        )
    })
  })

  test(
    'stop ends every service in order',
    async () => {
      await project.compose('stop')
      for (const [name, { status, exitCode }] of Object.entries(await project.services()))
        expect([name, status, exitCode]).toEqual([name, 'exited', 0])
    },
    MINUTE,
  )
})

test(
  'Compose 2, with a / that passes mounts on: a disk that is mounted later is seen',
  async () => {
    await using project = await openProject(image, { root: 'shared', compose: findCompose2() })
    await project.compose('up', '-d')
    await untilHealthy(project)
    expect(await project.execute('hub', 'superbloom', 'doctor')).toMatch(/^All is well\.$/m)
    const disk = mkdtempSync(join(tmpdir(), 'disk-'))
    const mount = [
      '--mount',
      '--target',
      String(project.daemon.pid),
      'mount',
      '-t',
      'tmpfs',
      '-o',
      'size=64m',
      'tmpfs',
      disk,
    ]
    await run('nsenter', mount)
    try {
      expect(await project.execute('metrics', 'grep', `/host${disk} `, '/proc/mounts')).toContain(
        'size=65536k',
      )
    } finally {
      await run('nsenter', ['--mount', '--target', String(project.daemon.pid), 'umount', disk])
      rmSync(disk, { recursive: true })
    }
  },
  5 * MINUTE,
)

test(
  'the image alone, as docs/docker.md runs it: healthy, and the token is in its volume',
  async () => {
    await using project = await openProject(image)
    const { docker } = project.daemon
    const id = await docker('run', '-d', '-p', '127.0.0.1:8420:8420', '-v', 'superbloom:/data', 'superbloom')
    const health = () => docker('inspect', '-f', '{{.State.Health.Status}}', id)
    await until('it is healthy', async () => (await health()) === 'healthy', { within: 2 * MINUTE })
    expect(await fetchOnMachine(project, 'http://127.0.0.1:8420/readyz')).toMatch(/^200 /)
    expect(await docker('exec', id, 'stat', '-c', '%U %a', '/data/token')).toBe('node 600')
    expect(await docker('exec', id, 'superbloom', 'doctor')).toMatch(/^All is well\.$/m)
    await docker('stop', id)
    expect(await docker('inspect', '-f', '{{.State.ExitCode}}', id)).toBe('0')
  },
  4 * MINUTE,
)

test(
  "a folder of root's as /data: the log says what to run, without a stack",
  async () => {
    await using project = await openProject(image)
    const { docker } = project.daemon
    const folder = mkdtempSync(join(tmpdir(), 'superbloom-data-'))
    mkdirSync(join(folder, 'data'))
    const start = () => docker('run', '--rm', '-v', `${join(folder, 'data')}:/data`, 'superbloom', 'start')
    const failed = await start().then(
      () => undefined,
      (error: { code: number; stderr: string }) => error,
    )
    rmSync(folder, { recursive: true })
    expect(failed?.code).toBe(78)
    expect(failed?.stderr).toContain('sudo chown -R 1000:1000 /data')
    expect(failed?.stderr).not.toMatch(/\n\s+at /)
  },
  2 * MINUTE,
)
