import { openHouse } from '../../../hub/demo/house.ts'
import { startLab } from '../../../hub/demo/http.ts'
import { SABNZBD_KEY } from '../../../hub/demo/sabnzbd.ts'
import { startJellyfin } from '../../lab/jellyfin.ts'
import { startRadarr } from '../../lab/radarr.ts'
import type { TestClient } from '../../support/clients.ts'

/** A built-in server with upstreams on loopback, and the upstream requests of its reading tools. */
export interface ServerCase {
  name: string
  env: Readonly<Record<string, string>>
  /** Runs before its tools are measured. */
  prepare?(client: TestClient): Promise<unknown>
  reads: readonly Read[]
}

interface Read {
  tool: string
  args?: Record<string, unknown>
  /** Sends the tool's upstream requests without the tool. */
  bare(): Promise<unknown>
}

const GAME = 'lab-arena'

export async function openServerCases(
  folder: string,
): Promise<AsyncDisposable & { all: readonly ServerCase[] }> {
  const stack = new AsyncDisposableStack()
  const home = { server: GAME, channel: 'phone', pause: '1h', cool: '1h', idle: '1h' }
  const house = stack.use(await openHouse({ folder, home }))
  const radarr = stack.use(await startRadarr())
  const jellyfin = stack.use(await startJellyfin())
  const prometheus = stack.use(await startLab(() => ({ body: VECTOR })))
  const { games, downloads, metrics, notifications } = house.servers
  const sabnzbd = (mode: string) =>
    read(`${house.sabnzbd.url}/api`, {
      method: 'POST',
      body: new URLSearchParams({ mode, apikey: SABNZBD_KEY, output: 'json' }),
    })
  const fromRadarr = (path: string) => read(radarr.url + path, { headers: { 'X-Api-Key': radarr.apiKey } })
  const all: ServerCase[] = [
    {
      name: 'games',
      env: games,
      prepare: client => client.call('start_game_server', { server: GAME }),
      reads: [{ tool: 'get_player_count', args: { server: GAME }, bare: () => house.query() }],
    },
    {
      name: 'downloads',
      env: downloads,
      reads: [
        { tool: 'get_download_status', bare: () => Promise.all([sabnzbd('queue'), sabnzbd('history')]) },
        { tool: 'get_download_history', bare: () => Promise.all([sabnzbd('queue'), sabnzbd('history')]) },
      ],
    },
    {
      name: 'media',
      env: {
        RADARR_URL: radarr.url,
        RADARR_API_KEY: radarr.apiKey,
        JELLYFIN_URL: jellyfin.url,
        JELLYFIN_API_KEY: jellyfin.apiKey,
      },
      reads: [
        { tool: 'get_upcoming', bare: () => fromRadarr('/api/v3/calendar') },
        {
          tool: 'get_jellyfin_sessions',
          bare: () =>
            read(`${jellyfin.url}/Sessions`, {
              headers: { Authorization: `MediaBrowser Token="${jellyfin.apiKey}"` },
            }),
        },
      ],
    },
    {
      name: 'metrics',
      env: { ...metrics, PROMETHEUS_URL: prometheus.url },
      reads: [
        {
          tool: 'query_prometheus',
          args: { query: 'up' },
          bare: () => read(`${prometheus.url}/api/v1/query?query=up`),
        },
      ],
    },
    { name: 'notifications', env: notifications, reads: [] },
  ]
  return { all, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const VECTOR = {
  status: 'success',
  data: {
    resultType: 'vector',
    result: ['nas', 'pi', 'desk'].map((instance, index) => ({
      metric: { __name__: 'up', instance, job: 'node' },
      value: [1_795_302_000, String(index % 2)],
    })),
  },
}

async function read(url: string, init?: RequestInit): Promise<unknown> {
  const response = await fetch(url, init)
  if (!response.ok) throw new Error(`${url}: ${response.status}`)
  return response.json()
}
