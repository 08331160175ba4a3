import type { ServerDefinition } from '../../servers/kit/server.ts'
import type { BuiltIn } from '../upstream/decide-servers.ts'
import { codeFile } from './paths.ts'

/** A server that comes with the hub. `superbloom serve` calls `load`; nothing is loaded before. */
export type LoadableBuiltIn = BuiltIn & { load(): Promise<ServerDefinition> }

/** The servers that come with the hub. Their order decides which one a tool's name belongs to. */
export const builtIns: readonly LoadableBuiltIn[] = [
  {
    name: 'metrics',
    file: codeFile('servers/metrics/server.ts'),
    always: true,
    envPrefixes: [
      'METRICS_',
      'PROMETHEUS_',
      'ALERTMANAGER_',
      'NODE_EXPORTER_',
      'ENGINE_',
      'DOCKER_',
      'KUBE',
      'XDG_RUNTIME_DIR',
    ],
    // SUPERBLOOM_DATA locates the file of the history; the server does not get the hub's token.
    alsoSees: ['SUPERBLOOM_DATA'],
    load: async () => (await import('../../servers/metrics/server.ts')).metrics,
  },
  {
    name: 'games',
    file: codeFile('servers/games/server.ts'),
    always: false,
    envPrefixes: ['GAMES_'],
    decidedBy: ['GAMES_CONFIG', 'GAMES_SERVERS', 'GAMES_DISCOVER'],
    // SUPERBLOOM_DATA locates the file of requested stops; the server does not get the hub's token.
    alsoSees: ['ENGINE_', 'DOCKER_', 'XDG_RUNTIME_DIR', 'KUBE', 'SUPERBLOOM_DATA'],
    load: async () => (await import('../../servers/games/server.ts')).games,
  },
  {
    name: 'media',
    file: codeFile('servers/media/server.ts'),
    always: false,
    envPrefixes: ['MEDIA_', 'JELLYFIN_', 'RADARR_', 'SONARR_', 'SEERR_'],
    load: async () => (await import('../../servers/media/server.ts')).media,
  },
  {
    name: 'downloads',
    file: codeFile('servers/downloads/server.ts'),
    always: false,
    envPrefixes: ['DOWNLOADS_', 'SABNZBD_', 'QBITTORRENT_', 'TRANSMISSION_'],
    // SUPERBLOOM_DATA locates the file of timed pauses; the server does not get the hub's token.
    alsoSees: ['SUPERBLOOM_DATA'],
    load: async () => (await import('../../servers/downloads/server.ts')).downloads,
  },
  {
    name: 'notifications',
    file: codeFile('servers/notifications/server.ts'),
    always: false,
    envPrefixes: ['NOTIFICATIONS_', 'NTFY_', 'DISCORD_', 'GOTIFY_', 'SMTP_', 'APPRISE_'],
    decidedBy: ['NOTIFICATIONS_CONFIG', 'NOTIFICATIONS_CHANNELS', 'DISCORD_BOT_TOKEN'],
    // SUPERBLOOM_DATA locates the folder of its outbox; the server does not get the hub's token.
    alsoSees: ['SUPERBLOOM_DATA'],
    load: async () => (await import('../../servers/notifications/server.ts')).notifications,
  },
]
