import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { downloads } from '../servers/downloads/server.ts'
import { games } from '../servers/games/server.ts'
import { systemClock } from '../servers/kit/clock.ts'
import type { ServerDefinition } from '../servers/kit/server.ts'
import { startWorld } from '../servers/kit/testing/server-world.ts'
import { media } from '../servers/media/server.ts'
import { metrics } from '../servers/metrics/server.ts'

/** Starts a program that accepts connections and never answers. */
async function startSilent() {
  const { promise: asked, resolve } = Promise.withResolvers<Socket>()
  const server = createServer(socket => {
    socket.on('error', () => undefined).once('data', () => resolve(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, asked, [Symbol.dispose]: () => void server.close() }
}

/** Nothing here shows whether the game runs, so the tool waits for the query. */
const game = (port: number) => ({
  kubernetes: { deployment: 'inn' },
  query: { type: 'protocol-minecraftvanilla', host: '127.0.0.1', port },
})

const CASES: Record<
  string,
  [ServerDefinition, (port: number) => Record<string, string>, string, Record<string, unknown>]
> = {
  'metrics, Prometheus': [
    metrics,
    port => ({ PROMETHEUS_URL: `http://127.0.0.1:${port}` }),
    'query_prometheus',
    { query: 'up' },
  ],
  'metrics, an engine': [
    metrics,
    port => ({ ENGINE_URL: `tcp://127.0.0.1:${port}` }),
    'get_container_status',
    {},
  ],
  'media, Radarr': [
    media,
    port => ({ RADARR_URL: `http://127.0.0.1:${port}`, RADARR_API_KEY: 'k' }),
    'search_media',
    { query: 'Dune' },
  ],
  'media, Jellyfin by its SDK': [
    media,
    port => ({ JELLYFIN_URL: `http://127.0.0.1:${port}`, JELLYFIN_API_KEY: 'k' }),
    'get_jellyfin_sessions',
    {},
  ],
  'downloads, SABnzbd': [
    downloads,
    port => ({ SABNZBD_URL: `http://127.0.0.1:${port}`, SABNZBD_API_KEY: 'k' }),
    'get_download_status',
    {},
  ],
  'games, a query': [
    games,
    port => ({ GAMES_SERVERS: JSON.stringify({ inn: game(port) }), GAMES_DISCOVER: 'false' }),
    'get_player_count',
    { server: 'inn' },
  ],
}

test.each(Object.entries(CASES))(
  '%s: a cancelled call ends its request',
  async (_name, [definition, toEnvironment, tool, args]) => {
    using silent = await startSilent()
    const environment = toEnvironment(silent.port)
    await using world = await startWorld(definition, { clock: systemClock, watchers: false, environment })
    const controller = new AbortController()
    const called = world.call(tool, args, controller.signal)
    const socket = await silent.asked
    const closed = once(socket, 'close')
    socket.resume()
    controller.abort(new Error('nobody waits any more'))
    expect(await called).toMatchObject({ isError: true })
    await closed
  },
)
