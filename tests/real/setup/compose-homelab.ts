import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Homelab, homelabStory } from '../../../hub/demo/homelab-story.ts'
import { type StoryModel, startStoryModel } from '../../../hub/demo/story-model.ts'
import { withRequests } from '../../lab/ordinary-requests.ts'
import { type Arena, openArena } from './arena.ts'
import type { Project } from './compose-project.ts'
import { type HomelabPrograms, startHomelabPrograms } from './homelab-programs.ts'
import { linkNetwork } from './network-link.ts'
import { SABNZBD_KEY } from './sabnzbd.ts'

const HOME: Homelab = { server: 'lab-arena', channel: 'ntfy', pause: '10s', cool: '2s', idle: '4s' }

/** The programs of a homelab with Compose's containers, and their settings as docs/docker.md says. */
export interface ComposeHomelab extends HomelabPrograms {
  /** A game of the same Docker that publishes its port. */
  readonly arena: Arena
  /** Plays ordinary requests and the three stories. */
  readonly model: StoryModel
}

/**
 * Starts the programs at this machine's own address and writes their settings, which take effect with
 * `compose up`. Disposing ends the programs and removes the settings.
 */
export async function openComposeHomelab({ daemon, folder }: Project): Promise<ComposeHomelab> {
  await using opened = new AsyncDisposableStack()
  const { machine, docker } = opened.use(await linkNetwork(daemon))
  const programs = opened.use(await startHomelabPrograms({ address: machine }))
  // The container of metrics has a user of its own.
  chmodSync(programs.host.root, 0o755)
  const story = withRequests(homelabStory(HOME))
  const model = opened.use(await startStoryModel(story, 0, machine))
  const arena = await openArena(daemon, { address: docker, inside: '0.0.0.0', options: publishGame })
  await arena.renew()
  opened.use(handInSocket(folder))
  const variables = {
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'lab',
    SUPERBLOOM_MODEL: 'three-stories',
    SABNZBD_URL: programs.sabnzbdUrl,
    SABNZBD_API_KEY: SABNZBD_KEY,
    NTFY_URL: `${programs.ntfy.url}/phone`,
    NTFY_TOKEN: programs.ntfy.tokens.admin,
  }
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`)
  opened.use(writeSettings(join(folder, '.env'), lines.join('')))
  const metrics = { environment: { METRICS_HOST_ROOT: `/host${programs.host.root}` } }
  const override = JSON.stringify({ services: { metrics } })
  opened.use(writeSettings(join(folder, 'docker-compose.override.yml'), override))
  const owned = opened.move()
  return { ...programs, arena, model, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Returns the options of a game's container, which is found by its labels. Bots play the people. */
function publishGame(port: number): string[] {
  const labels = { '': HOME.server, '.query': `q3a:${port}`, '.count-bots': 'true', '.stop-seconds': '5' }
  const options = Object.entries(labels).map(([key, value]) => `--label=superbloom.game${key}=${value}`)
  return [`--publish=${port}:${port}/udp`, ...options]
}

/** Uncomments the lines that hand Docker's socket to `games` and `metrics`, as the comments there say. */
function handInSocket(folder: string): Disposable {
  const file = join(folder, 'docker-compose.yml')
  const text = readFileSync(file, 'utf8')
  const commented = /^( *)# (- \/var\/run\/docker\.sock.*|group_add: .*)$/gm
  const found = text.match(commented)?.length
  if (found !== 4) throw new Error(`docker-compose.yml has ${found} lines about the socket, not 4`)
  writeFileSync(file, text.replace(commented, '$1$2'))
  return { [Symbol.dispose]: () => writeFileSync(file, text) }
}

function writeSettings(file: string, text: string): Disposable {
  writeFileSync(file, text)
  return { [Symbol.dispose]: () => rmSync(file) }
}
