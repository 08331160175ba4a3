import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { downloads } from '../../servers/downloads/server.ts'
import { startFakeProgram } from '../../servers/downloads/testing/fake-programs.ts'
import { games } from '../../servers/games/server.ts'
import type { ServerDefinition } from '../../servers/kit/server.ts'
import { createFakeClock } from '../../servers/kit/testing/fake-clock.ts'
import { ok, startFaultyUpstream } from '../../servers/kit/testing/faulty-upstream.ts'
import { assertFits, startWorld } from '../../servers/kit/testing/server-world.ts'
import { worker } from '../../servers/kit/testing/worker-server.ts'
import { media } from '../../servers/media/server.ts'
import { metrics } from '../../servers/metrics/server.ts'
import { notifications } from '../../servers/notifications/server.ts'
import { startRadarr } from '../lab/radarr.ts'
import { type Inspected, inspectOverHttp, inspectOverStdio } from '../support/inspector.ts'

interface Case {
  name: string
  definition: ServerDefinition
  /** Starts the server's upstreams, which end with the stack. */
  open?(stack: AsyncDisposableStack): Promise<Record<string, string>>
  calls: [tool: string, args: Record<string, string>, structured: object][]
}

const CASES: Case[] = [
  {
    name: 'kit/testing/worker-server.ts',
    definition: worker,
    calls: [['count', { to: '3' }, { to: 3, title: 'a film' }]],
  },
  {
    name: 'metrics/server.ts',
    definition: metrics,
    calls: [['get_processes', { name: 'node' }, { processes: expect.any(Array) }]],
  },
  {
    name: 'games/server.ts',
    definition: games,
    open: async () => ({
      GAMES_DISCOVER: 'false',
      GAMES_SERVERS: JSON.stringify({ script: { process: { command: '/bin/sleep', args: ['1000'] } } }),
    }),
    calls: [['list_game_servers', {}, { servers: [{ server: 'script', state: 'stopped' }] }]],
  },
  {
    name: 'downloads/server.ts',
    definition: downloads,
    async open(stack) {
      const { environment, upstream } = await startFakeProgram('sabnzbd')
      stack.use(upstream)
      return environment
    },
    calls: [['get_download_status', {}, { clients: [{ client: 'sabnzbd' }], total: 1 }]],
  },
  {
    name: 'media/server.ts',
    definition: media,
    async open(stack) {
      const radarr = stack.use(await startRadarr())
      return { RADARR_URL: radarr.url, RADARR_API_KEY: radarr.apiKey }
    },
    calls: [['search_media', { query: 'dune' }, { total: 3, unknown: [] }]],
  },
  {
    name: 'notifications/server.ts',
    definition: notifications,
    async open(stack) {
      const upstream = stack.use(await startFaultyUpstream({ 'POST /': ok({ id: 'm1', time: 1 }) }))
      const folder = mkdtempSync(join(tmpdir(), 'superbloom-notifications-'))
      stack.defer(() => rmSync(folder, { recursive: true }))
      const environment = { NTFY_URL: `${upstream.url}/lab`, NOTIFICATIONS_DATA: join(folder, 'n.db') }
      return { ...environment, NOTIFICATIONS_TIMEZONE: 'UTC' }
    },
    calls: [
      ['send_notification', { message: 'hello' }, {}],
      ['get_notification_history', {}, { notifications: [expect.any(Object)] }],
    ],
  },
]

test.each(CASES)('$name is listed and called over stdio and HTTP', async each => {
  await using stack = new AsyncDisposableStack()
  const { name, definition, open, calls } = each
  const environment = (await open?.(stack)) ?? {}
  const world = await startWorld(definition, { clock: createFakeClock(), watchers: false, environment })
  const names = world.listed().map(tool => tool.name)
  await world[Symbol.asyncDispose]()

  const check = async ({ tools, remarks, call }: Inspected) => {
    expect(remarks).toBe('')
    expect(tools.map(tool => tool.name)).toEqual(names)
    for (const [tool, args, structured] of calls) {
      const called = await call(tool, args)
      expect(called['structuredContent'], tool).toMatchObject(structured)
      const listed = tools.find(other => other.name === tool)
      assertFits(listed?.outputSchema ?? {}, called['structuredContent'])
    }
  }
  await check(
    await inspectOverStdio(fileURLToPath(new URL(`../../servers/${name}`, import.meta.url)), environment),
  )
  await inspectOverHttp(definition, environment, check)
})
