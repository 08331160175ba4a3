import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFixtureHost, type FixtureHost } from '../../../servers/metrics/testing/fixture-host.ts'
import { AGENT, type Homelab, homelabStory } from '../../lab/homelab-story.ts'
import { startJellyfin } from '../../lab/jellyfin.ts'
import { keepRunning } from '../../lab/machine.ts'
import { startStoryModel } from '../../lab/story-model.ts'
import { type ChatClient, openChat } from '../../support/chat-client.ts'
import { launcher } from '../../support/cli.ts'
import { openClient, type TestClient, textOf } from '../../support/clients.ts'
import { startProgram } from '../../support/program.ts'
import { until, within } from '../../support/until.ts'
import { type Arena, openArena } from './arena.ts'
import { startDockerd } from './dockerd.ts'
import { RCON_PASSWORD } from './ioquake3.ts'
import { startRealNtfy } from './ntfy.ts'
import { SABNZBD_KEY, startSabnzbd } from './sabnzbd.ts'
import { toPost } from './usenet.ts'

/** SABnzbd's answer about its queue. */
export interface SabnzbdQueue {
  paused: boolean
  /** Time until it resumes by itself: "0" or "29:59". */
  pause_int: string
  slots: { filename: string; status: string }[]
}

export interface HubOptions {
  /** The times of the stories that the model plays; without them the built-in commands answer. */
  story?: Pick<Homelab, 'pause' | 'cool' | 'idle'>
  /** Tools that need an approval. */
  approve?: readonly string[]
}

/**
 * The hub's own process with its five servers and the homelab. Disposing stops it as a service manager does.
 */
export interface HomelabHub extends AsyncDisposable {
  readonly chat: ChatClient
  readonly client: TestClient
  /** Number of requests to the scripted model. */
  readonly asked: number
  /** Returns the types of its events, newest first; all, or those that are `handled`. */
  events(status?: 'handled'): Promise<string[]>
  /** Adds players until the hub has an event of one, so that its watcher knows of players. */
  untilPlayed(arena: Arena): Promise<void>
  /** Returns the phone's messages that ntfy kept, oldest first. */
  phone(): Promise<string[]>
}

/**
 * Real upstreams for the hub: a game in a container, a download client, a push service; the machine is
 * recorded.
 */
export interface RealHomelab extends AsyncDisposable {
  readonly arena: Arena
  readonly host: FixtureHost
  sabnzbd(): Promise<SabnzbdQueue>
  resumeSabnzbd(): Promise<void>
  startHub(options: HubOptions): Promise<HomelabHub>
}

export async function openRealHomelab(): Promise<RealHomelab> {
  await using opened = new AsyncDisposableStack()
  const dockerd = opened.use(await startDockerd())
  const arena = await openArena(dockerd)
  const sabnzbd = opened.use(await startSabnzbd())
  const ask = (query: string, init?: RequestInit) =>
    fetch(`${sabnzbd.url}/api?apikey=${SABNZBD_KEY}&output=json&${query}`, init)
  for (const name of ['Sintel.1080p', 'Tears.of.Steel.1080p']) await addDownload(ask, name)
  const ntfy = opened.use(await startRealNtfy())
  const jellyfin = opened.use(await startJellyfin())
  const host = opened.use(createFixtureHost())
  opened.use(keepRunning(host))
  const game = {
    title: 'Lab Arena',
    docker: 'arena',
    query: { type: 'q3a', port: arena.port, countBots: true },
    console: { kind: 'quake3', port: arena.port, password: RCON_PASSWORD },
    stopSeconds: 5,
  }
  let hubs = 0
  const owned = opened.move()
  return {
    arena,
    host,
    async sabnzbd() {
      const { queue } = (await (await ask('mode=queue')).json()) as { queue: SabnzbdQueue }
      return queue
    },
    resumeSabnzbd: async () => void (await ask('mode=resume')),
    startHub(options) {
      const topic = `phone${++hubs}`
      const phone = { kind: 'ntfy', url: `${ntfy.url}/${topic}`, token: ntfy.tokens.admin }
      const servers = {
        games: {
          ENGINE_URL: dockerd.socket,
          GAMES_SERVERS: JSON.stringify({ arena: game }),
          GAMES_DISCOVER: 'false',
          GAMES_PLAYERS_INTERVAL: '1s',
        },
        downloads: { SABNZBD_URL: sabnzbd.url, SABNZBD_API_KEY: SABNZBD_KEY },
        media: { JELLYFIN_URL: jellyfin.url, JELLYFIN_API_KEY: jellyfin.apiKey },
        metrics: { ENGINE_URL: dockerd.socket, METRICS_HOST_ROOT: host.root, METRICS_INTERVAL: '500ms' },
        notifications: { NOTIFICATIONS_CHANNELS: JSON.stringify({ phone }) },
      }
      return startHub(servers, options, () => readTopic(`${ntfy.url}/${topic}`, ntfy.tokens.admin))
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

type Ask = (query: string, init?: RequestInit) => Promise<Response>

async function addDownload(ask: Ask, name: string): Promise<void> {
  const { nzb } = toPost(`${name}.mkv`, Buffer.alloc(10_000), name)
  const body = new FormData()
  body.set('name', new Blob([nzb]), `${name}.nzb`)
  const answer = (await (await ask('mode=addfile', { method: 'POST', body })).json()) as { status: boolean }
  if (!answer.status) throw new Error(`SABnzbd does not take ${name}: ${JSON.stringify(answer)}`)
}

async function readTopic(url: string, token: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${url}/json?poll=1&since=all`, { headers })
  const lines = await answer.text()
  if (!answer.ok) throw new Error(`ntfy answered ${answer.status}: ${lines}`)
  const events = lines.split('\n').flatMap(line => (line === '' ? [] : JSON.parse(line)))
  return (events as { event: string; message: string }[])
    .filter(({ event }) => event === 'message')
    .map(({ message }) => message)
}

type Servers = Readonly<Record<string, Readonly<Record<string, string>>>>

async function startHub(
  servers: Servers,
  { story, approve = [] }: HubOptions,
  phone: () => Promise<string[]>,
): Promise<HomelabHub> {
  await using opened = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'superbloom-homelab-'))
  opened.defer(() => rmSync(folder, { recursive: true, force: true }))
  const model =
    story && opened.use(await startStoryModel(homelabStory({ ...story, server: 'arena', channel: 'phone' })))
  const entries = Object.entries(servers).map(([name, env]) => [name, { env }])
  writeFileSync(
    join(folder, 'superbloom.yaml'),
    JSON.stringify({ servers: Object.fromEntries(entries), tools: { approve } }),
  )
  mkdirSync(join(folder, 'agents'))
  writeFileSync(join(folder, 'agents', 'homelab.md'), AGENT)
  const env = {
    SUPERBLOOM_CONFIG: join(folder, 'superbloom.yaml'),
    SUPERBLOOM_DATA: join(folder, 'data'),
    SUPERBLOOM_AGENTS: join(folder, 'agents'),
    SUPERBLOOM_PORT: '0',
    LOG_LEVEL: 'warn',
    HOME: folder,
    ...(model
      ? { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'lab', SUPERBLOOM_MODEL: 'three-stories' }
      : {}),
  }
  const program = opened.use(
    await startProgram(process.execPath, [launcher, 'start'], {
      env,
      base: { PATH: process.env['PATH'] },
      cwd: folder,
    }),
  )
  opened.defer(async () => {
    if (program.child.exitCode === null) program.signal('SIGTERM')
    await within('the hub ends', program.ended)
  })
  const [, url = ''] = await program.says(/Open (http\S+)/)
  const token = readFileSync(join(folder, 'data', 'token'), 'utf8').trim()
  const client = opened.use(await openClient('sdk 2, 2026-07-28', { url, token }))
  await untilReady(client, Object.keys(servers))
  const chat = opened.use(await openChat({ url, token }))
  await chat.subscribe('homelab', 0)
  const events = async (status?: 'handled') => {
    const { structuredContent } = await client.call('hub_list_events', status ? { status } : {})
    return (structuredContent as { events: { type: string }[] }).events.map(({ type }) => type)
  }
  const isPlayed = async () => (await events()).includes('player_joined')
  const owned = opened.move()
  return {
    chat,
    client,
    get asked() {
      return model?.asked ?? 0
    },
    events,
    async untilPlayed(arena) {
      // The watcher's first probe after the hub's start raises nothing, and may come after the first player.
      await until('a player is seen', async () => {
        await arena.join()
        return await until('this one is seen', isPlayed, { within: 4_000 }).catch(() => false)
      })
    },
    phone,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function untilReady(client: TestClient, names: readonly string[]): Promise<void> {
  let said = ''
  await until('every server is ready', async () => {
    const status = await client.call('hub_status')
    said = textOf(status)
    const { servers } = status.structuredContent as { servers: { name: string; state: string }[] }
    return names.every(name => servers.some(one => one.name === name && one.state === 'ready'))
  }).catch((error: Error) => {
    throw new Error(`${error.message}. The hub says:\n${said}`, { cause: error })
  })
}
