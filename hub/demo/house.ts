import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createFixtureHost, type FixtureHost } from '../../servers/metrics/machine/fixture-host.ts'
import { AGENT, type Homelab, homelabStory } from './homelab-story.ts'
import { keepRunning } from './machine.ts'
import { type Ntfy, type Published, startNtfy } from './ntfy.ts'
import { sendRcon } from './rcon.ts'
import { SABNZBD_KEY, type Sabnzbd, startSabnzbd } from './sabnzbd.ts'
import { type Story, type StoryModel, startStoryModel } from './story-model.ts'

const RCON_PASSWORD = 'lab'

type Variables = Readonly<Record<string, string>>

/**
 * A simulated homelab: a game server, a download client, a push service, a machine and a model, all on
 * loopback.
 */
export interface House extends AsyncDisposable {
  /** Variables for a hub's process that uses this homelab. */
  readonly env: Variables
  /** The variables of each server, by its name. */
  readonly servers: Readonly<Record<'games' | 'downloads' | 'metrics' | 'notifications', Variables>>
  readonly sabnzbd: Sabnzbd
  readonly ntfy: Ntfy
  readonly host: FixtureHost
  readonly model: StoryModel
  /** Makes a player join or leave the game server. */
  player(what: 'join' | 'leave', name: string): Promise<void>
  /** Asks the game server for its players. */
  query(): Promise<string>
  /** Tells whether the game server answers. */
  isGameUp(): Promise<boolean>
}

export interface HouseOptions {
  /** An empty folder for all written files. */
  folder: string
  home: Homelab
  /** What the model plays; default the three stories. */
  story?: Story
  onMessage?: (message: Published) => void
}

export async function openHouse({ folder, home, story, onMessage }: HouseOptions): Promise<House> {
  await using stack = new AsyncDisposableStack()
  const sabnzbd = stack.use(
    await startSabnzbd({
      'Big.Buck.Bunny.2160p': 64_000,
      'Sintel.1080p': 24_000,
      'Tears.of.Steel.1080p': 18_000,
    }),
  )
  const ntfy = stack.use(await startNtfy(onMessage))
  const host = stack.use(createFixtureHost())
  stack.use(keepRunning(host))
  const model = stack.use(await startStoryModel(story ?? homelabStory(home)))
  const port = await findPort()
  const ask = (command: string) => sendRcon({ port, password: RCON_PASSWORD }, command)
  mkdirSync(join(folder, 'agents'), { recursive: true })
  writeFileSync(join(folder, 'agents', 'homelab.md'), AGENT)
  const servers = toServers({ home, port, sabnzbd, ntfy, host })
  const entries = Object.entries(servers).map(([name, env]) => [name, { env }])
  writeFileSync(
    join(folder, 'superbloom.yaml'),
    JSON.stringify({ servers: Object.fromEntries(entries) }, undefined, 2),
  )
  const owned = stack.move()
  return {
    env: {
      SUPERBLOOM_CONFIG: join(folder, 'superbloom.yaml'),
      SUPERBLOOM_DATA: join(folder, 'data'),
      SUPERBLOOM_AGENTS: join(folder, 'agents'),
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'lab',
      SUPERBLOOM_MODEL: 'three-stories',
    },
    servers,
    sabnzbd,
    ntfy,
    host,
    model,
    query: () => ask('status'),
    player: async (what, name) => void (await ask(`${what} ${name}`)),
    isGameUp: async () => (await ask('status').catch(() => '')) !== '',
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

interface Upstreams {
  home: Homelab
  port: number
  sabnzbd: Sabnzbd
  ntfy: Ntfy
  host: FixtureHost
}

function toServers({ home, port, sabnzbd, ntfy, host }: Upstreams) {
  const extension = import.meta.filename.endsWith('.ts') ? 'ts' : 'js'
  const program = fileURLToPath(new URL(`./quake3.${extension}`, import.meta.url))
  const game = {
    title: 'Lab Arena',
    process: { command: process.execPath, args: [program, String(port), RCON_PASSWORD] },
    query: { type: 'q3a', port },
    console: { kind: 'quake3', port, password: RCON_PASSWORD },
    commands: ['status', 'say *'],
  }
  const phone = { kind: 'ntfy', url: `${ntfy.url}/phone` }
  return {
    games: {
      GAMES_SERVERS: JSON.stringify({ [home.server]: game }),
      GAMES_DISCOVER: 'false',
      GAMES_PLAYERS_INTERVAL: '1s',
    },
    downloads: { SABNZBD_URL: sabnzbd.url, SABNZBD_API_KEY: SABNZBD_KEY },
    metrics: { METRICS_HOST_ROOT: host.root, METRICS_INTERVAL: '1s' },
    notifications: { NOTIFICATIONS_CHANNELS: JSON.stringify({ [home.channel]: phone }) },
  }
}

async function findPort(): Promise<number> {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  return port
}
