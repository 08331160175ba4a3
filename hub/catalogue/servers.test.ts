import { afterEach, beforeEach, expect, test } from 'vitest'
import { odd } from '../../tests/support/downstream.ts'
import { untilNoChildren } from '../../tests/support/processes.ts'
import { createRecord, until } from '../../tests/support/until.ts'
import { childEnvironment } from '../config/environment.ts'
import { systemClock } from '../core/clock.ts'
import { createLog } from '../core/log.ts'
import type { ServerSpec } from '../upstream/server-spec.ts'
import { NO_OWNERS } from './name-owners.ts'
import { openServers, type Servers } from './servers.ts'

let servers: Servers
let told: ReturnType<typeof createRecord<string>>

let pids: number[]

const spec = (name: string, ...modes: string[]): ServerSpec => ({
  name,
  origin: 'config',
  prefix: `${name}__`,
  transport: { kind: 'stdio', env: childEnvironment(), ...odd('tool=heard', 'tool=touch', ...modes).entry },
})

beforeEach(() => {
  told = createRecord()
  pids = []
  const watch = (pid: number) => {
    pids.push(pid)
    return () => undefined
  }
  servers = openServers({
    clock: systemClock,
    random: () => 0,
    log: createLog({ level: 'error', now: systemClock.now, write: () => undefined }),
    authorizations: { of: () => undefined },
    negotiated: { read: async () => 'legacy', save: async () => undefined },
    guard: { watch, [Symbol.asyncDispose]: async () => undefined },
    version: '1',
    connectTimeout: 30_000,
    callTimeout: 120_000,
    confirm: async () => undefined,
    onChange: () => undefined,
    onEvents: () => undefined,
    onUpdated: uri => told.add(uri),
    onNotice: () => undefined,
    taken: { tools: new Set(), prompts: new Set(), isOwn: uri => uri.startsWith('hub://') },
    longestName: () => 64,
    names: { read: async () => NO_OWNERS, save: async () => undefined },
  })
})
afterEach(async () => {
  await servers[Symbol.asyncDispose]()
  await untilNoChildren()
})

async function start(...specs: ServerSpec[]): Promise<void> {
  servers.apply({ specs, disabled: [], losers: [], tools: {} })
  await until('all are ready', () => servers.status().every(({ state }) => state === 'ready'))
}

const callFor = async (name: string, args = {}) => {
  const { content } = await servers.call(name, args)
  return content[0]?.type === 'text' ? content[0].text : undefined
}
/** Waits until the server has been told exactly these lines without being called. */
const untilHeard = (name: string, ...lines: string[]) =>
  until(`${name} hears ${lines}`, async () => (await callFor(`${name}__heard`)) === lines.join(', '))

test('a tool that clients would refuse is left out, and the status of its server says why', async () => {
  await start(spec('one', 'wrong=bent'), spec('two'))
  const [one, two] = servers.status()
  expect(one?.leftOut).toEqual(['bent: description: expected string, received number'])
  expect(two?.leftOut).toBeUndefined()
})

test("no server is subscribed to what is the hub's own", async () => {
  await start(spec('one', 'resource=note://a'))
  servers.subscribe(new Set(['hub://conversations/homelab', 'note://a']))
  await untilHeard('one', 'subscribe note://a')
})

test('everyone who may be read for a resource is subscribed to it, for as long as it is wanted', async () => {
  await start(
    spec('one', 'resource=note://a', 'template=doc://{id}'),
    spec('two', 'resource=wiki://a', 'template=doc://{+path}'),
    spec('three'),
  )
  servers.subscribe(new Set(['doc://7', 'wiki://a']))
  await untilHeard('one', 'subscribe doc://7')
  await untilHeard('two', 'subscribe doc://7', 'subscribe wiki://a')
  servers.subscribe(new Set(['wiki://a', 'wiki://unlisted']))
  await untilHeard('one', 'subscribe doc://7', 'unsubscribe doc://7', 'subscribe wiki://unlisted')
  const before = ['subscribe doc://7', 'subscribe wiki://a']
  await untilHeard('two', ...before, 'unsubscribe doc://7', 'subscribe wiki://unlisted')
  await untilHeard('three')
  await callFor('one__touch', { uri: 'wiki://unlisted' })
  expect(told.all).toEqual(['wiki://unlisted'])
})

test('who is subscribed is told that a resource may have changed while its server was away', async () => {
  servers.subscribe(new Set(['note://a', 'note://b']))
  await start(spec('one', 'resource=note://a'), spec('two', 'resource=note://b'))
  await untilHeard('one', 'subscribe note://a')
  await untilHeard('two', 'subscribe note://b')
  expect(told.all, 'nobody was told of anything before').toEqual([])
  process.kill(Number(pids[0]), 'SIGKILL')
  await told.find('it may have changed', uri => uri === 'note://a')
  await untilHeard('one', 'subscribe note://a')
  await start(spec('one', 'resource=note://a'), spec('two', 'resource=note://b', 'logs'))
  await told.find('it may have changed', uri => uri === 'note://b')
  await untilHeard('two', 'subscribe note://b')
  await untilHeard('one', 'subscribe note://a')
  expect(told.all, 'each once').toEqual(['note://a', 'note://b'])
})

test.each([
  ['a server that never came up', 'one__x', /one is down: .*no-such-program.*next try is at \d{4}-/s],
  ['a held drop-in', 'two__x', /two does not run: held: its folder is open/],
  ['a disabled server', 'three__x', /three is disabled/],
  ['a server with a prefix of its own', 'files-x', /four is down: .*next try is at \d{4}-/s],
])('a call to a tool of %s says why it is not there', async (_what, tool, why) => {
  const broken = (name: string, prefix = `${name}__`): ServerSpec => ({
    ...spec(name),
    prefix,
    transport: { kind: 'stdio', env: {}, command: '/no-such-program', args: [] },
  })
  servers.apply({
    specs: [broken('one'), broken('four', 'files-')],
    disabled: [spec('three')],
    losers: [{ name: 'two', origin: 'drop-in', reason: 'held: its folder is open' }],
    tools: {},
  })
  await until('those are down', () =>
    ['one', 'four'].every(name => servers.status().find(one => one.name === name)?.state === 'down'),
  )
  await expect(servers.call(tool, {})).rejects.toThrow(why)
  await expect(servers.call('other__x', {})).rejects.toThrow('There is no tool other__x')
})
