import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { LINES, openClient, type TestClient, textOf } from '../support/clients.ts'
import { npmServer, odd, untilReady } from '../support/downstream.ts'
import { childrenOf, untilNoChildren } from '../support/processes.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'

const NONE = 'servers: { metrics: false }\n'
const ODD = JSON.stringify(odd().entry)

interface Status {
  servers: { name: string; state: string; origin: string; error?: string; collisions?: string[] }[]
  problems: string[]
}

let hub: TestHub
let client: TestClient

beforeAll(async () => {
  hub = await startTestHub({ config: NONE })
  client = await openClient('sdk 2, 2026-07-28', hub)
})
afterAll(async () => {
  await client[Symbol.asyncDispose]()
  await hub[Symbol.asyncDispose]()
  await untilNoChildren()
})

const names = async () => (await client.listTools()).map(tool => tool.name)
const status = async () => (await client.call('hub_status')).structuredContent as unknown as Status
const untilStatus = (what: string, fits: (state: Status) => boolean) =>
  until(what, async () => {
    const state = await status()
    return fits(state) && state
  })
const isReady = ({ state }: { state: string }) => state === 'ready'
const remove = (name: string) =>
  rmSync(join(hub.dataFolder, 'servers', name), { recursive: true, force: true })

/** Every test begins without any server, and without the process of one that is ending. */
beforeEach(async () => {
  for (const { name } of (await status()).servers) remove(name)
  hub.writeConfig(NONE)
  await untilStatus('there is no server', ({ servers: all }) => all.length === 0)
  await untilNoChildren()
})

describe.each(LINES)('a connected client of %s', line => {
  test('is told when a server is dropped in, and when it is taken out', async () => {
    await using watching = await openClient(line, hub)
    const changes = await watching.watchTools()
    hub.writeData('servers/fresh/mcp.json', ODD)
    await changes.find('the new tools are told', () => true)
    expect((await watching.listTools()).map(tool => tool.name)).toContain('fresh__pid')
    const from = changes.all.length
    remove('fresh')
    await changes.find('their end is told', () => true, from)
    expect((await watching.listTools()).map(tool => tool.name)).not.toContain('fresh__pid')
  })
})

describe('names', () => {
  test('a prefix of the entry counts, "" too; what collides gets the server’s name and is shown', async () => {
    const entry = { ...odd().entry, prefix: '' }
    hub.writeConfig(
      JSON.stringify({
        servers: { metrics: false, first: entry, second: entry, third: { ...entry, prefix: 'my-' } },
      }),
    )
    const state = await untilStatus('all three are ready', ({ servers: all }) =>
      ['first', 'second', 'third'].every(name => all.some(one => one.name === name && one.state === 'ready')),
    )
    expect((await names()).filter(name => name.endsWith('pid'))).toEqual(['pid', 'second__pid', 'my-pid'])
    expect(state.servers.find(({ name }) => name === 'second')?.collisions).toContain('pid is taken by first')
    expect(state.servers.find(({ name }) => name === 'first')?.collisions).toBeUndefined()
    expect(textOf(await client.call('pid'))).not.toBe(textOf(await client.call('second__pid')))
  })

  test('what clients refuse in a name is replaced, what is too long is shortened, always alike', async () => {
    const tools = ['a.b/c d', 'ä', 'x'.repeat(100), `${'x'.repeat(99)}y`]
    hub.writeConfig(
      JSON.stringify({ servers: { metrics: false, odd: odd(...tools.map(name => `tool=${name}`)).entry } }),
    )
    await until('its tools are there', async () => (await names()).includes('odd__pid'))
    const ours = (await names()).filter(name => name.startsWith('odd__')).slice(3)
    expect(ours).toEqual([
      'odd__a_b_c_d',
      'odd___',
      expect.stringMatching(/^odd__x{33}_[0-9a-f]{8}$/),
      expect.stringMatching(/^odd__x{33}_[0-9a-f]{8}$/),
    ])
    expect(new Set(ours).size).toBe(4)
    for (const name of ours) {
      expect(`mcp__superbloom__${name}`).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
      expect(textOf(await client.call(name))).toBe('swallowed')
    }
    await hub.stop()
    await hub.start()
    client = await openClient('sdk 2, 2026-07-28', hub)
    await untilReady(hub, 'odd')
    await until('its tools are there', async () => (await names()).includes('odd__pid'))
    expect((await names()).filter(name => name.startsWith('odd__')).slice(3)).toEqual(ours)
  })

  test('after a restart a name is not lent to a server that is ready sooner than the one that has it', async () => {
    const entry = { ...odd().entry, prefix: '' }
    const slow = { ...odd('slow-start').entry, prefix: '' }
    hub.writeConfig(JSON.stringify({ servers: { metrics: false, slow, quick: entry } }))
    await untilStatus('both are ready', ({ servers: all }) => all.length === 2 && all.every(isReady))
    const before = (await names()).filter(name => name.endsWith('pid'))
    expect(before).toEqual(['pid', 'quick__pid'])
    await hub.stop()
    await hub.start()
    client = await openClient('sdk 2, 2026-07-28', hub)
    await untilReady(hub, 'quick')
    expect(
      hub.logs.all
        .slice(hub.startedFrom)
        .some(one => one.event === 'server_ready' && one['server'] === 'slow'),
    ).toBe(false)
    expect((await names()).filter(name => name.endsWith('pid'))).toEqual(['quick__pid'])
    expect(textOf(await client.call('pid'))).not.toBe(textOf(await client.call('quick__pid')))
  })

  test('the hub’s own and the meta-tools’ names are nobody else’s', async () => {
    const taken = ['hub_chat', 'schedule_wake', 'send_message']
    const entry = { ...odd(...taken.map(name => `tool=${name}`)).entry, prefix: '' }
    hub.writeConfig(JSON.stringify({ servers: { metrics: false, thief: entry } }))
    const state = await untilStatus('it is ready', ({ servers: [one] }) => one?.state === 'ready')
    expect(state.servers[0]?.collisions).toEqual(taken.map(name => `${name} is taken by the hub`))
    expect(await names()).toEqual(expect.arrayContaining(taken.map(name => `thief__${name}`)))
  })
})

test('a call in flight comes to its end when its server is removed or changed', async () => {
  const path = 'servers/busy/mcp.json'
  const entry = npmServer('everything')
  hub.writeData(path, JSON.stringify(entry))
  for (const change of [
    () => hub.writeData(path, JSON.stringify({ ...entry, prefix: 'new_' })),
    () => remove('busy'),
  ]) {
    const tool = await until('its tools are there', async () =>
      (await names()).find(name => name.endsWith('trigger-long-running-operation')),
    )
    const begun = Promise.withResolvers<void>()
    const options = { onProgress: () => begun.resolve() }
    const result = client.call(tool, { duration: 1.5, steps: 15 }, options)
    await Promise.race([begun.promise, result])
    change()
    await until('its old tools are gone', async () => !(await names()).includes(tool))
    expect(textOf(await result)).toContain('completed')
  }
})

test('a drop-in runs in its folder, or where its entry says, seen from there', async () => {
  const entry = odd('tool=cwd').entry
  for (const [cwd, path] of [
    [undefined, join(hub.dataFolder, 'servers/place')],
    ['below', join(hub.dataFolder, 'servers/place/below')],
    [hub.folder, hub.folder],
  ] as const) {
    mkdirSync(path, { recursive: true })
    hub.writeData('servers/place/mcp.json', JSON.stringify(cwd ? { ...entry, cwd } : entry))
    await until('it runs there', async () => {
      if (!(await names()).includes('place__cwd')) return false
      return textOf(await client.call('place__cwd')) === path
    })
  }
})

describe('who wins', () => {
  test('the config over a drop-in, which comes forth when the config lets go', async () => {
    hub.writeData('servers/twice/mcp.json', JSON.stringify({ ...odd().entry, prefix: 'dropped_' }))
    await until('the drop-in is there', async () => (await names()).includes('dropped_pid'))
    hub.writeConfig(
      JSON.stringify({ servers: { metrics: false, twice: { ...odd().entry, prefix: 'config_' } } }),
    )
    await until('the config’s is there', async () => (await names()).includes('config_pid'))
    expect(await names()).not.toContain('dropped_pid')
    expect((await status()).servers).toMatchObject([
      { name: 'twice', origin: 'config', state: 'ready' },
      { name: 'twice', origin: 'drop-in', state: 'replaced', error: expect.stringContaining('config') },
    ])
    hub.writeConfig(JSON.stringify({ servers: { metrics: false, twice: false } }))
    await until('neither is there', async () => !(await names()).some(name => name.endsWith('_pid')))
    hub.writeConfig(NONE)
    await until('the drop-in is back', async () => (await names()).includes('dropped_pid'))
  })

  test('a drop-in over a built-in, and the built-in is shown as replaced, which is nothing to mend', async () => {
    hub.writeConfig('')
    hub.writeData('servers/metrics/mcp.json', ODD)
    await until('the drop-in took its place', async () => (await names()).includes('metrics__pid'))
    expect(await names()).not.toContain('get_system_metrics')
    expect((await status()).servers).toMatchObject([
      { name: 'metrics', origin: 'drop-in' },
      { name: 'metrics', origin: 'built-in', state: 'replaced' },
    ])
    const doctor = await runCli(['doctor'], { cwd: hub.folder, variables: hub.variables })
    expect(doctor.stdout).toMatch(
      /^ok +server metrics: replaced: dropped-in .* wins$[\s\S]*All is well\.\n$/m,
    )
    remove('metrics')
    await until('the built-in is back', async () => (await names()).includes('get_system_metrics'))
  })
})

describe('what is held, and why', () => {
  test.each(['servers', 'servers/shared'])(
    'others can write to %s: chmod go-w lets it start',
    async folder => {
      const path = join(hub.dataFolder, folder)
      mkdirSync(path, { recursive: true })
      chmodSync(path, 0o777)
      hub.writeData('servers/shared/mcp.json', ODD)
      const state = await untilStatus('it is held', ({ servers: [one] }) => one?.state === 'not_running')
      expect(state.servers).toMatchObject([
        {
          name: 'shared',
          error: `held: others than its owner can write to ${path}: run chmod go-w on it to let this server start`,
        },
      ])
      expect(childrenOf()).toEqual([])
      chmodSync(path, 0o755)
      await until('it starts', async () => (await names()).includes('shared__pid'))
    },
  )

  const cases: [string, string, RegExp][] = [
    ['no JSON', '{ "command": "node",, }', /mcp\.json:1: /],
    ['a command that is a number', '{\n  "command": 5\n}', /mcp\.json:2: command: .*string/],
    ['an address that is none', '{\n\n  "url": "ftp://x"\n}', /mcp\.json:3: url: /],
    ['neither command nor url', '{"args": ["x"]}', /has neither command nor url; give one/],
    ['both', '{"command": "node", "url": "http://localhost:1/mcp"}', /has both command and url; keep one/],
    ['nothing', '', /mcp\.json|neither command nor url/],
  ]
  test.each(cases)('an mcp.json with %s', async (_name, text, words) => {
    hub.writeData('servers/wrong/mcp.json', text)
    const state = await untilStatus('it is shown', ({ servers: all }) => all.length === 1)
    expect(state.servers[0]).toMatchObject({ name: 'wrong', state: 'not_running', origin: 'drop-in' })
    expect(state.servers[0]?.error).toMatch(words)
    hub.writeData('servers/wrong/mcp.json', ODD)
    await until('mended, it starts', async () => (await names()).includes('wrong__pid'))
  })

  test('a folder whose name is none gets one, one called like the hub is held, one without a server is nothing', async () => {
    hub.writeData('servers/Not A Name/mcp.json', ODD)
    hub.writeData('servers/hub/mcp.json', ODD)
    hub.writeData('servers/empty/readme.txt', 'nothing')
    await until('it has a name of ours', async () => (await names()).includes('not-a-name__pid'))
    expect((await status()).servers).toMatchObject([
      { name: 'not-a-name', writtenAs: 'Not A Name', state: 'ready' },
      { name: 'hub', state: 'not_running', error: expect.stringMatching(/name must not be hub/) },
    ])
    remove('Not A Name')
  })

  test('one that cannot be read harms no other, now or at the next start', async () => {
    const bomb = ['a: &a [x,x,x,x,x,x,x,x,x]']
    for (let line = 1; line < 10; line++)
      bomb.push(`a${line}: &a${line} [${`*a${line === 1 ? '' : line - 1},`.repeat(9)}]`)
    hub.writeData('servers/bomb/mcp.json', bomb.join('\n'))
    hub.writeData('servers/nested/mcp.json', '['.repeat(100_000))
    const held = ({ servers: all }: Status) =>
      ['bomb', 'nested'].every(name => all.some(one => one.name === name && one.state === 'not_running'))
    await untilStatus('they are held', held)
    hub.writeData('servers/sound/mcp.json', ODD)
    await until('the next one starts', async () => (await names()).includes('sound__pid'))
    await hub.stop()
    await hub.start()
    client = await openClient('sdk 2, 2026-07-28', hub)
    await until('it starts again', async () => (await names()).includes('sound__pid'))
    expect(held(await status())).toBe(true)
  })

  test('others can write to the program: it is not started until they cannot', async () => {
    const file = join(hub.dataFolder, 'servers/loose/lib/part.mjs')
    hub.writeData('servers/loose/lib/part.mjs', '')
    chmodSync(file, 0o646)
    hub.writeData('servers/loose/mcp.json', ODD)
    const state = await untilStatus('it is held', ({ servers: [one] }) => one?.state === 'not_running')
    expect(state.servers[0]?.error).toContain(`others than its owner can write to ${file}: run chmod go-w`)
    expect(childrenOf()).toEqual([])
    chmodSync(file, 0o644)
    await until('it starts', async () => (await names()).includes('loose__pid'))
    const manifest = join(hub.dataFolder, 'servers/loose/mcp.json')
    chmodSync(manifest, 0o666)
    hub.writeData('servers/loose/disabled', '')
    await untilStatus('it is held', ({ servers: [one] }) => one?.error?.includes(manifest) === true)
  })

  test('a config that is wrong is refused whole, with file, line and reason, and the old one stays', async () => {
    hub.writeConfig(JSON.stringify({ servers: { metrics: false, kept: odd().entry } }))
    await until('it is there', async () => (await names()).includes('kept__pid'))
    hub.writeConfig(`timezone: UTC\nservers:\n  metrics: false\n  other: { command: 5 }\nnonsense: 1\n`)
    const state = await untilStatus('the problem is shown', ({ problems }) => problems.length > 0)
    expect(state.problems.join('\n')).toContain(`${hub.configFile}:4: servers.other.command`)
    expect(state.problems.join('\n')).toContain(`${hub.configFile}:5: nonsense: no such key`)
    expect(textOf(await client.call('kept__pid'))).toMatch(/^\d+$/)
    hub.writeConfig(NONE)
    await untilStatus('the problem is gone', ({ problems }) => problems.length === 0)
  })
})
