import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { toChatTool } from '../../hub/model/openai/messages.ts'
import { openChat } from './chat-client.ts'
import { untilReady } from './downstream.ts'
import { HELLO, serve, stream } from './provider.ts'
import { startTestHub } from './test-hub.ts'

/** The agent that comes with the hub. */
const AGENT = join(import.meta.dirname, '../../agents/homelab.md')

const NOWHERE = 'http://127.0.0.1:9'
const game = (title: string, port: number) => ({
  title,
  query: { type: 'minecraft', port },
  process: { command: 'true' },
})

/** The config of all five servers in a homelab of usual size: nothing of it has to run, since nothing is called. */
const SERVERS = {
  games: {
    env: {
      GAMES_SERVERS: JSON.stringify({
        'atm-10': game('All the Mods 10', 25565),
        arena: game('Arena', 27960),
      }),
      GAMES_DISCOVER: 'false',
    },
  },
  downloads: {
    env: {
      SABNZBD_URL: NOWHERE,
      SABNZBD_API_KEY: 'key',
      QBITTORRENT_URL: NOWHERE,
      TRANSMISSION_URL: NOWHERE,
    },
  },
  media: {
    env: Object.fromEntries(
      ['JELLYFIN', 'RADARR', 'SONARR', 'SEERR'].flatMap(name => [
        [`${name}_URL`, NOWHERE],
        [`${name}_API_KEY`, '0123456789abcdef0123456789abcdef'],
      ]),
    ),
  },
  metrics: { env: { PROMETHEUS_URL: NOWHERE, ALERTMANAGER_URL: NOWHERE } },
  notifications: {
    env: {
      NOTIFICATIONS_CHANNELS: JSON.stringify({
        phone: { kind: 'ntfy', url: `${NOWHERE}/phone` },
        house: { kind: 'ntfy', url: `${NOWHERE}/house` },
      }),
    },
  },
}

/** A tool as chat completions carry it. */
export type ChatTool = ReturnType<typeof toChatTool>

/** The tools that the agent of a new hub with all five servers sends to a model behind chat completions. */
export async function readFirstTools(): Promise<ChatTool[]> {
  await using provider = await serve(stream(HELLO))
  await using hub = await startTestHub({
    config: JSON.stringify({ servers: SERVERS }),
    agents: { homelab: readFileSync(AGENT, 'utf8') },
    variables: { SUPERBLOOM_MODEL: 'm', SUPERBLOOM_MODEL_CONTEXT: '65536', OPENAI_BASE_URL: provider.url },
  })
  await untilReady(hub, ...Object.keys(SERVERS))
  using chat = await openChat(hub)
  await chat.subscribe('homelab')
  await chat.ask('homelab', 'Is all well?')
  const request = provider.bodies.find(body => body.includes('"tools":'))
  if (request === undefined) throw new Error('No request had tools')
  return (JSON.parse(request) as { tools: ChatTool[] }).tools
}
