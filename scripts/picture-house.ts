import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../hub/core/clock.ts'
import { homelabStory } from '../hub/demo/homelab-story.ts'
import { openHouse } from '../hub/demo/house.ts'
import type { Story } from '../hub/demo/story-model.ts'
import { startJellyfin, toTranscodingSession } from '../tests/lab/jellyfin.ts'
import { openClient } from '../tests/support/clients.ts'
import { startTestHub, type TestHub } from '../tests/support/test-hub.ts'
import { until } from '../tests/support/until.ts'

const HOME = { server: 'lab-arena', channel: 'phone', pause: '45m', cool: '1h', idle: '1h' }
const GAMES = `---
description: Starts the game servers, for everyone in the house
shared: true
tools: ["*_game_server*", get_player_count]
---
You help the house with its game servers.
`
/** The pictures are taken at this time, so that they do not differ from run to run. */
export const EVENING = Date.UTC(2026, 2, 6, 18, 42)
const shift = EVENING - Date.now()
const clock = { ...systemClock, now: () => systemClock.now() + shift }

/** The stories of the demo, and a restart that asks first. */
const story: Story = messages => {
  const newest = messages.findLast(({ role }) => role === 'user')?.content ?? ''
  if (!/restart the game/.test(newest)) return homelabStory(HOME)(messages)
  if (messages.at(-1)?.role === 'tool')
    return { text: 'A restart throws Ada out, so I asked for your yes first.' }
  return { calls: [{ name: 'restart_game_server', arguments: { server: HOME.server } }] }
}

/** Opens the demo's house with a hub in this process, some life in it, and nothing of this machine. */
export async function openPictureHouse(): Promise<TestHub> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.adopt(mkdtempSync(join(tmpdir(), 'superbloom-picture-')), path =>
    rmSync(path, { recursive: true }),
  )
  const house = stack.use(await openHouse({ folder, home: HOME, story }))
  // A simulated drive reports no health.
  rmSync(join(house.host.root, 'sys', 'block', 'sda'), { recursive: true })
  const jellyfin = stack.use(await startJellyfin())
  jellyfin.state.sessions.push(toTranscodingSession())
  const media = { JELLYFIN_URL: jellyfin.url, JELLYFIN_API_KEY: jellyfin.apiKey }
  const servers = Object.entries({ ...house.servers, media }).map(([name, env]) => [name, { env }])
  const config = {
    timezone: 'Europe/Berlin',
    servers: Object.fromEntries(servers),
    notify: { channel: HOME.channel, private: true },
  }
  const agent = readFileSync(join(import.meta.dirname, '..', 'agents', 'homelab.md'), 'utf8')
  const hub = stack.use(
    await startTestHub({
      config: JSON.stringify(config),
      agents: { homelab: agent, games: GAMES },
      variables: { OPENAI_BASE_URL: house.model.url, OPENAI_API_KEY: 'lab', SUPERBLOOM_MODEL: 'qwen3:32b' },
      overrides: { clock },
    }),
  )
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  const server = { server: HOME.server }
  await until('the game runs', async () => !(await client.call('start_game_server', server)).isError)
  await house.player('join', 'Ada')
  await client.call('hub_add_person', { name: 'anna', role: 'member' })
  const bins = { agent: 'homelab', scope: 'agent', key: 'house/Bins', value: 'Paper on Friday, before 7:00' }
  await client.call('hub_store_fact', bins)
  const owned = stack.move()
  return Object.assign(hub, { [Symbol.asyncDispose]: () => owned.disposeAsync() })
}
