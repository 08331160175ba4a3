import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { builtIns } from '../../../hub/config/built-ins.ts'
import { type Homelab, homelabStory } from '../../../hub/demo/homelab-story.ts'
import { type House, openHouse } from '../../../hub/demo/house.ts'
import { hubStatus } from '../../../schemas/hub-status.ts'
import { startJellyfin } from '../../lab/jellyfin.ts'
import { ASKING_REQUESTS, ORDINARY_REQUESTS, withRequests } from '../../lab/ordinary-requests.ts'
import { startRadarr } from '../../lab/radarr.ts'
import { startSeerr } from '../../lab/seerr.ts'
import { startSonarr } from '../../lab/sonarr.ts'
import { type ChatClient, openChat } from '../../support/chat-client.ts'
import { startCli } from '../../support/cli.ts'
import { openClient, type TestClient } from '../../support/clients.ts'
import { DEFAULT_AGENT } from '../../support/five-servers.ts'
import { makeTempFolder } from '../../support/temp-store.ts'
import { until } from '../../support/until.ts'

/*
 * The agent that comes with the hub, without any setting of its policy: what people ask day by day and the three
 * stories need nobody's yes. As in Compose means docker/superbloom.yaml and each server in a process of its own.
 */

const MINUTE = 60_000
const HOME: Homelab = { server: 'lab-arena', channel: 'phone', pause: '4s', cool: '2s', idle: '4s' }
const COMPOSE_FILE = join(import.meta.dirname, '..', '..', '..', 'docker', 'superbloom.yaml')

/** What no program here does: the call runs, and says so. */
const NOT_HERE = [
  ...['get_container_status', 'get_container_logs', 'query_prometheus', 'get_alerts'],
  ...['set_download_priority', 'set_download_speed'],
]

type Variables = Readonly<Record<string, string>>
type Settings = Readonly<Record<string, Variables>>

/** Starts the programs of a household's media; returns the variables of their server. */
async function startMedia(stack: AsyncDisposableStack): Promise<Variables> {
  const variables: Record<string, string> = {}
  const starts = { JELLYFIN: startJellyfin, RADARR: startRadarr, SONARR: startSonarr, SEERR: startSeerr }
  for (const [name, start] of Object.entries(starts)) {
    const { url, apiKey } = stack.use(await start())
    Object.assign(variables, { [`${name}_URL`]: url, [`${name}_API_KEY`]: apiKey })
  }
  return variables
}

/** Starts each server alone and writes Compose's config with their addresses; returns the hub's variables. */
async function startServers(settings: Settings, folder: string, stack: AsyncDisposableStack) {
  const started = builtIns.map(async ({ name }) => {
    const token = `the-token-of-${name}-0123456789abcdef`
    const running = stack.use(
      startCli(['serve', name, '--http', '0'], {
        variables: { ...settings[name], SUPERBLOOM_SERVER_TOKEN: token, SUPERBLOOM_DATA: join(folder, name) },
      }),
    )
    const [, url = ''] = await running.says(/ at (http:\S+\/mcp);/)
    return { name, token, url }
  })
  let config = readFileSync(COMPOSE_FILE, 'utf8')
  const variables: Record<string, string> = {}
  for (const { name, token, url } of await Promise.all(started)) {
    const address = `http://${name}:8431/mcp`
    expect(config).toContain(address)
    config = config.replace(address, url)
    variables[`SERVER_TOKEN_${name.toUpperCase()}`] = token
  }
  writeFileSync(join(folder, 'superbloom.yaml'), config)
  return variables
}

/** Describes the house with its servers over stdio, or over HTTP as in Compose. */
export function describeOrdinaryRequests(way: 'stdio' | 'HTTP, as in Compose') {
  describe(`servers over ${way}`, () => testRequests(way))
}

function testRequests(way: string) {
  const stack = new AsyncDisposableStack()
  let house: House
  let chat: ChatClient
  let client: TestClient

  beforeAll(async () => {
    const folder = stack.use(makeTempFolder()).path
    house = stack.use(await openHouse({ folder, home: HOME, story: withRequests(homelabStory(HOME)) }))
    writeFileSync(join(folder, 'agents', 'homelab.md'), DEFAULT_AGENT)
    mkdirSync(join(folder, 'data'), { mode: 0o700 })
    const settings: Settings = { ...house.servers, media: await startMedia(stack) }
    const own = Object.entries(settings).map(([name, env]) => [name, { env }])
    writeFileSync(join(folder, 'superbloom.yaml'), JSON.stringify({ servers: Object.fromEntries(own) }))
    const tokens = way === 'stdio' ? {} : await startServers(settings, folder, stack)
    stack.use(startCli(['start'], { variables: { ...house.env, ...tokens, SUPERBLOOM_PORT: '0' } }))
    const file = join(folder, 'data', 'hub.json')
    const { url } = await until(
      'the hub runs',
      () => existsSync(file) && (JSON.parse(readFileSync(file, 'utf8')) as { url: string }),
    )
    const token = readFileSync(join(folder, 'data', 'token'), 'utf8').trim()
    client = stack.use(await openClient('sdk 2, 2026-07-28', { url, token }))
    await until('every server is ready', async () => {
      const { servers } = hubStatus.parse((await client.call('hub_status')).structuredContent)
      const ready = servers.filter(({ state }) => state === 'ready').map(({ name }) => name)
      return Object.keys(settings).every(name => ready.includes(name))
    })
    chat = stack.use(await openChat({ url, token }))
    await chat.subscribe('homelab', 0)
  }, 4 * MINUTE)
  afterAll(() => stack[Symbol.asyncDispose]())

  const approvals = async () => {
    const { structuredContent } = await client.call('hub_list_approvals')
    return (structuredContent as { approvals: { tool: string }[] }).approvals.map(({ tool }) => tool)
  }
  const statusesOf = (tool: string) =>
    chat.frames.all.flatMap(frame =>
      frame.type === 'tool' && frame.call.tool === tool ? frame.call.status : [],
    )

  test('44 ordinary requests are done at once, without one question', { timeout: 4 * MINUTE }, async () => {
    expect(ORDINARY_REQUESTS).toHaveLength(44)
    for (const [text, tool] of ORDINARY_REQUESTS) {
      await chat.answerTo(await chat.say('homelab', text), ['agent', 'notice'])
      const status = NOT_HERE.includes(tool) ? 'error' : 'ok'
      expect([text, statusesOf(tool).at(-1)]).toEqual([text, status])
    }
    expect(await approvals()).toEqual([])
  })

  test('the three stories run to their end with nobody there', async () => {
    const { sabnzbd, ntfy, host, model } = house
    const before = ntfy.published.length
    await until('the game server is up', house.isGameUp)
    await house.player('join', 'Ada')
    await chat.say('homelab', 'The game server is slow')
    await until('the downloads pause', () => sabnzbd.paused)
    await until('the downloads go on', () => !sabnzbd.paused)
    await until('the phone is told', () => ntfy.published.length === before + 1)
    const asked = model.asked
    host.setTemperature(91)
    await until('the phone is warned', () => ntfy.published.length === before + 2)
    host.setTemperature(52)
    await until('the agent looks again', () => model.asked >= asked + 5)
    await house.player('leave', 'Ada')
    await until('the empty server is stopped', async () => !(await house.isGameUp()), { within: 60_000 })
    expect(await approvals()).toEqual([])
  })

  test('what destroys asks first, whoever asked for it', async () => {
    for (const [text] of ASKING_REQUESTS) await chat.answerTo(await chat.say('homelab', text))
    expect((await approvals()).sort()).toEqual(ASKING_REQUESTS.map(([, tool]) => tool).sort())
  })
}
