import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AGENT, type Homelab, homelabStory } from '../../../hub/demo/homelab-story.ts'
import { startStoryModel } from '../../../hub/demo/story-model.ts'
import { startJellyfin } from '../../lab/jellyfin.ts'
import { type ChatClient, openChat } from '../../support/chat-client.ts'
import { launcher } from '../../support/cli.ts'
import { openClient, type TestClient, textOf } from '../../support/clients.ts'
import { startProgram } from '../../support/program.ts'
import { until, within } from '../../support/until.ts'
import { type Arena, openArena } from './arena.ts'
import { startDockerd } from './dockerd.ts'
import { type HomelabPrograms, startHomelabPrograms } from './homelab-programs.ts'
import { RCON_PASSWORD } from './ioquake3.ts'
import { SABNZBD_KEY } from './sabnzbd.ts'

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
export interface RealHomelab extends HomelabPrograms {
  readonly arena: Arena
  startHub(options: HubOptions): Promise<HomelabHub>
}

export async function openRealHomelab(): Promise<RealHomelab> {
  await using opened = new AsyncDisposableStack()
  const dockerd = opened.use(await startDockerd())
  const arena = await openArena(dockerd)
  const programs = opened.use(await startHomelabPrograms())
  const { host, ntfy } = programs
  const jellyfin = opened.use(await startJellyfin())
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
    ...programs,
    arena,
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
        downloads: { SABNZBD_URL: programs.sabnzbdUrl, SABNZBD_API_KEY: SABNZBD_KEY },
        media: { JELLYFIN_URL: jellyfin.url, JELLYFIN_API_KEY: jellyfin.apiKey },
        metrics: { ENGINE_URL: dockerd.socket, METRICS_HOST_ROOT: host.root, METRICS_INTERVAL: '500ms' },
        notifications: { NOTIFICATIONS_CHANNELS: JSON.stringify({ phone }) },
      }
      return startHub(servers, options, () => programs.published(topic))
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
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
    untilPlayed: arena => arena.joinUntil(isPlayed),
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
