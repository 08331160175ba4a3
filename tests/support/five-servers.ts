import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const NOWHERE = 'http://127.0.0.1:9'
const game = (title: string, port: number) => ({
  title,
  query: { type: 'minecraft', port },
  process: { command: 'true' },
})

/**
 * The five built-in servers of a typical homelab, each with all of its tools; none of their upstreams runs.
 */
export const FIVE_SERVERS = {
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

/** The agent that comes with the hub. */
export const DEFAULT_AGENT = readFileSync(
  fileURLToPath(new URL('../../agents/homelab.md', import.meta.url)),
  'utf8',
)
