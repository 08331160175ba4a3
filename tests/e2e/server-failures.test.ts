import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../hub/core/clock.ts'
import type { HubOverrides } from '../../hub/hub.ts'
import { CHECK_MS } from '../../hub/upstream/stdio/memory-check.ts'
import { LINES, openClient, type TestClient, textOf } from '../support/clients.ts'
import { type Entry, odd, untilReady } from '../support/downstream.ts'
import { childrenOf, isRunning, untilNoChildren } from '../support/processes.ts'
import { send } from '../support/raw-http.ts'
import { openResourceClient } from '../support/resource-clients.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until, within } from '../support/until.ts'

/**
 * Milliseconds: ten times what a start and a call take on a busy machine, and less than the hub waits for a
 * server that hangs.
 */
const SOON_MS = 20_000

const HOSTILE = fileURLToPath(new URL('../fixtures/hostile-server.mjs', import.meta.url))

let hub: TestHub
let client: TestClient

/** Starts a hub with these servers, beside one that works. */
async function boot(servers: Record<string, Entry>, overrides: HubOverrides = {}): Promise<void> {
  const started = performance.now()
  hub = await startTestHub({
    config: JSON.stringify({ servers: { metrics: false, good: odd().entry, ...servers } }),
    overrides,
  })
  expect(performance.now() - started, 'no server delays the start').toBeLessThan(SOON_MS)
  client = await openClient('sdk 2, 2026-07-28', hub)
  await untilReady(hub, 'good')
}

/** Returns a clock whose timers take this many times as long. */
const stretched = (factor: number): Clock => ({
  ...systemClock,
  after: (delay, run) => systemClock.after(delay * factor, run),
})

afterEach(async () => {
  await client[Symbol.asyncDispose]()
  await hub[Symbol.asyncDispose]()
  await untilNoChildren()
})

const goodAnswers = async () => {
  const started = performance.now()
  expect(textOf(await client.call('good__pid'))).toMatch(/^\d+$/)
  expect(performance.now() - started).toBeLessThan(SOON_MS)
}
const pidOf = async (server: string) => Number(textOf(await client.call(`${server}__pid`)))
const statusOf = async (server: string) => {
  const { structuredContent } = await client.call('hub_status')
  const { servers } = structuredContent as { servers: ({ name: string } & Record<string, unknown>)[] }
  return servers.find(({ name }) => name === server)
}
const readyz = async () => (await send(`${hub.url}/readyz`)).status

describe('a server that never comes up', () => {
  test('readyz turns 200 all the same', async () => {
    await boot({ bad: odd('hang').entry })
    expect(await readyz()).toBe(503)
    // CONTRACT.md allows at most 5 s after the start.
    await until('the hub counts as ready', async () => (await readyz()) === 200)
  })

  test.each(['hang', 'hang-on-list'])('%s: the others answer, and the hub ends soon', async mode => {
    await boot({ bad: odd(mode).entry })
    await goodAnswers()
    expect(await statusOf('bad')).toMatchObject({ state: 'starting', tools: 0 })
    await within('the hub stops', hub.stop())
    expect(childrenOf()).toEqual([])
  })

  test('one that hangs on its list is ended after the time limit and tried again, one at a time', async () => {
    const mode = 'hang-on-list'
    // This clock turns 30 s into 1.5 s.
    await boot({ bad: odd(mode).entry }, { clock: stretched(1 / 20) })
    const [first] = childrenOf().filter(({ command }) => command.endsWith(mode))
    const called = await client.call('bad__pid')
    expect(called).toMatchObject({ isError: true })
    expect(textOf(called)).toMatch(/The server bad is down: .*took longer than 30 s.*next try is at/)
    const down = await hub.logs.find('it is down', one => one.event === 'server_down' && one.server === 'bad')
    expect(down['error']).toMatch(/took longer than 30 s/)
    const [second] = await until('another is tried', () => {
      const tried = childrenOf().filter(({ command }) => command.endsWith(mode))
      expect(tried.length).toBeLessThan(2)
      return tried[0]?.pid !== first?.pid && tried.length > 0 && tried
    })
    expect(second?.pid).not.toBe(first?.pid)
    expect(await statusOf('bad')).toMatchObject({
      state: 'starting',
      error: expect.stringContaining('30 s'),
    })
    await goodAnswers()
  })

  test('a missing command: told with its name, tried again ever more slowly', async () => {
    await boot({ bad: { command: '/no/such/program', args: [] } })
    await until('it failed twice', () => hub.logs.all.filter(one => one.event === 'server_down').length > 1)
    const failures = hub.logs.all.filter(one => one.event === 'server_down')
    expect(failures[0]).toMatchObject({ server: 'bad', error: expect.stringContaining('/no/such/program') })
    expect(Number(failures[1]?.['retryInMs'])).toBeGreaterThan(Number(failures[0]?.['retryInMs']))
    expect(await statusOf('bad')).toMatchObject({
      state: expect.stringMatching(/down|starting/),
      error: expect.stringContaining('ENOENT'),
    })
    expect(await readyz()).toBe(200)
    await goodAnswers()
  })

  test('a program that ends at once: its end is the reason', async () => {
    const says = (code: string) => ({ ...odd().entry, args: ['-e', code] })
    await boot({
      exits: says('process.exit(3)'),
      throws: says('throw new Error("set FOO_KEY")'),
      asks: says('console.error("usage: asks FILE\\n  a file"); process.exit(2)'),
      lost: { ...odd().entry, cwd: '/no/such/folder' },
    })
    for (const [server, words] of [
      ['exits', /^its process ended with code 3$/],
      ['throws', /^its process ended with code 1: Error: set FOO_KEY$/],
      ['asks', /^its process ended with code 2: usage: asks FILE$/],
      ['lost', /^its folder \/no\/such\/folder does not exist$/],
    ] as const) {
      const failure = await hub.logs.find(
        'it failed',
        one => one.event === 'server_down' && one.server === server,
      )
      expect(failure['error']).toMatch(words)
      expect((await statusOf(server))?.['error']).toMatch(words)
    }
    expect(await readyz()).toBe(200)
    await goodAnswers()
  })

  test('a list that fails or never ends: that is the reason, not the end that the hub gave its process', async () => {
    await boot({ fails: odd('list-fails').entry, endless: odd('list-goes-on').entry })
    for (const [server, words] of [
      ['fails', /^its tools cannot be listed: .*no database$/],
      ['endless', /^its tools cannot be listed: tools\/list has over 100 pages$/],
    ] as const) {
      const failure = await hub.logs.find(
        'it failed',
        one => one.event === 'server_down' && one.server === server,
      )
      expect(failure['error']).toMatch(words)
    }
    await goodAnswers()
  })

  test('one that dies soon after each start is tried ever more slowly', async () => {
    await boot({ bad: odd('dies-soon').entry })
    const failures = () => hub.logs.all.filter(one => one.event === 'server_down' && one.server === 'bad')
    await until('it died three times', () => failures().length > 2)
    const waits = failures().map(one => Number(one['retryInMs']))
    expect(waits).toEqual([...waits].sort((a, b) => a - b))
    expect(waits[2]).toBeGreaterThanOrEqual(1_500)
  })
})

describe('a server that dies', () => {
  test('comes back by itself, with nothing left of its group; meanwhile its tools stay and a call says why', async () => {
    // A restart takes four times as long, so that a call on a busy machine still finds the server down.
    await boot({ frail: odd('grandchild').entry }, { clock: stretched(4) })
    await untilReady(hub, 'frail')
    const pid = await pidOf('frail')
    const [grandchild] = childrenOf(pid)
    expect(grandchild?.command).toContain('sleep')
    const from = hub.logs.all.length
    process.kill(pid, 'SIGKILL')
    await hub.logs.find('its end is seen', one => one.event === 'server_down', from)
    const failed = await client.call('frail__pid')
    expect(failed.isError).toBe(true)
    expect(textOf(failed)).toMatch(
      /^The server frail is down: .+\. The next try is at \d{4}-\d\d-\d\dT[\d:.]+Z$/,
    )
    expect((await client.listTools()).map(({ name }) => name)).toContain('frail__pid')
    await hub.logs.find('it is back', one => one.event === 'server_ready' && one.server === 'frail', from)
    expect(await pidOf('frail')).not.toBe(pid)
    expect(grandchild && isRunning(grandchild.pid)).toBe(false)
    await goodAnswers()
  })

  test('a call in flight is told how its server ended', async () => {
    await boot({ frail: odd('tool=die').entry })
    await untilReady(hub, 'frail')
    const failed = await client.call('frail__die')
    expect(failed.isError).toBe(true)
    expect(textOf(failed)).toMatch(/its process ended with code 7: Error: the disk is gone$/)
  })

  test('one that closes its output is ended, although its process goes on, and comes back', async () => {
    await boot({ frail: odd('stubborn', 'tool=mute').entry })
    await untilReady(hub, 'frail')
    const from = hub.logs.all.length
    const failed = await within('the call fails', client.call('frail__mute'))
    expect(textOf(failed)).toMatch('The connection closed before the answer came')
    await hub.logs.find('it is back', one => one.event === 'server_ready' && one.server === 'frail', from)
  })

  test('a call in flight fails at once, not after its time limit', async () => {
    await boot({ frail: odd('deaf').entry })
    await untilReady(hub, 'frail')
    const [child] = childrenOf().filter(({ command }) => command.includes('deaf'))
    const call = client.call('frail__swallow')
    // The hub answers in order, so the earlier call is running when this one returns.
    await goodAnswers()
    process.kill(child?.pid ?? 0, 'SIGKILL')
    const failed = await within('the call fails', call)
    expect(failed.isError).toBe(true)
    expect(textOf(failed)).toMatch(/closed|gone/i)
  })

  test.each(LINES)('a client that subscribed is told that a resource may have changed: %s', async line => {
    await boot({ frail: odd('resource=note://a').entry })
    await untilReady(hub, 'frail')
    await using watching = await openResourceClient(line, hub)
    const changes = await watching.watch(['note://a'])
    process.kill(await pidOf('frail'), 'SIGKILL')
    await changes.find('the client is told', change => change === 'note://a')
  })

  test('a call to one that is starting waits for it, even where its tools are not known yet', async () => {
    hub = await startTestHub({
      config: JSON.stringify({ servers: { metrics: false, slow: odd('slow-start').entry } }),
    })
    client = await openClient('sdk 2, 2026-07-28', hub)
    expect(await statusOf('slow')).toMatchObject({ state: 'starting' })
    expect(await pidOf('slow')).toBeGreaterThan(0)
    await expect(client.call('slow__none')).rejects.toMatchObject({ code: -32_602 })
  })
})

describe('a server that misbehaves', () => {
  test.each(['flood-stdout', 'flood-stderr'])('%s: the others answer as before', async mode => {
    await boot({ bad: odd(mode).entry })
    for (let round = 0; round < 20; round++) await goodAnswers()
    expect(hub.logs.all.length).toBeLessThan(5_000)
  })

  test('stray lines on its standard output are no harm, JSON or not, in one piece with a message', async () => {
    await boot({ chatty: odd('chatty').entry })
    await untilReady(hub, 'chatty')
    expect(await pidOf('chatty')).toBeGreaterThan(0)
  })

  test('a message over 10 MiB ends the connection, which comes back', async () => {
    await boot({ big: odd('huge').entry })
    await untilReady(hub, 'big')
    const failed = await within('the call fails', client.call('big__swallow'))
    expect(failed.isError).toBe(true)
    const down = await hub.logs.find('it is down', one => one.event === 'server_down')
    expect(down['error']).toBe('it sent a message over 10485760 bytes')
    await goodAnswers()
    await until('it is back', async () => (await statusOf('big'))?.['state'] === 'ready')
  })

  test.each(['auto', 'off'] as const)(
    'one that takes too much memory is ended whole, and comes back (sandbox %s)',
    async sandbox => {
      const hungry = { command: process.execPath, args: [HOSTILE], memory: '300m', sandbox }
      const after: Clock['after'] = (delay, run) => systemClock.after(delay === CHECK_MS ? 50 : delay, run)
      await boot({ hungry }, { clock: { ...systemClock, after } })
      await untilReady(hub, 'hungry')
      const before = childrenOf().length
      await client.call('hungry__grow', { bytes: 10 * 1024 ** 2 })
      expect(childrenOf().length).toBe(before + 1)
      // What it started is outside of its process group.
      await client.call('hungry__grow', { bytes: 300 * 1024 ** 2 }).catch(() => undefined)
      const down = await hub.logs.find('it is down', one => one.event === 'server_down')
      expect(down['error']).toMatch(
        /^it used 0\.\d GiB of memory; its limit is 0\.3 GiB \(memory in its entry\)/,
      )
      await until('it is back, alone', async () => (await statusOf('hungry'))?.['state'] === 'ready')
      await until('nothing else is left', () => childrenOf().length === before)
      await goodAnswers()
    },
  )

  test('calls to one that reads nothing can be given up', async () => {
    await boot({ deaf: odd('deaf').entry })
    await untilReady(hub, 'deaf')
    const abort = new AbortController()
    const ballast = 'x'.repeat(500_000)
    const calls = Array.from({ length: 12 }, () =>
      client.call('deaf__swallow', { ballast }, { signal: abort.signal }),
    )
    await goodAnswers()
    abort.abort()
    for (const call of calls) await expect(call).rejects.toThrow()
    await goodAnswers()
  })

  test('one that ignores its end is killed with its group, and the hub ends within 10 s', async () => {
    await boot({ mule: odd('stubborn', 'grandchild').entry })
    await untilReady(hub, 'mule')
    const pid = await pidOf('mule')
    const group = [pid, ...childrenOf(pid).map(one => one.pid)]
    expect(group.length).toBe(2)
    await within('the hub stops', hub.stop())
    expect(group.filter(isRunning)).toEqual([])
  })

  test('changes while one ignores its end are not kept waiting', async () => {
    await boot({ mule: odd('stubborn').entry }, { clock: stretched(2) })
    await untilReady(hub, 'mule')
    const mule = await pidOf('mule')
    hub.writeConfig(JSON.stringify({ servers: { metrics: false, good: odd().entry } }))
    await until('it is gone', async () => (await statusOf('mule')) === undefined)
    hub.writeData('servers/later/mcp.json', JSON.stringify(odd().entry))
    await untilReady(hub, 'later')
    expect(isRunning(mule)).toBe(true)
    await until('the stubborn one is killed', () => !isRunning(mule))
  })
})
