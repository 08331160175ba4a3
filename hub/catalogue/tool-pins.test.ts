import type { Tool } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import type { NewEvent } from '../../schemas/inbox.ts'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { openTempStore, type TempStore } from '../../tests/support/temp-store.ts'
import { createIds } from '../core/ids.ts'
import { createLog } from '../core/log.ts'
import { readToolPins } from '../store/tool-pins.ts'
import { NO_OFFER } from '../upstream/offer.ts'
import { buildCatalogue } from './catalogue.ts'
import { NO_OWNERS } from './name-owners.ts'
import { openToolPins } from './tool-pins.ts'

const LOOKS = { readOnlyHint: true }
const DESTROYS = { destructiveHint: true }

function tool(name: string, annotations: Tool['annotations'] = LOOKS, description = 'Lists files'): Tool {
  return { name, description, inputSchema: { type: 'object' }, ...(annotations ? { annotations } : {}) }
}

/** One run of the hub, whose server `files` lists what `list` says; it may be removed or the operator's own. */
async function startRun(store: TempStore, clock = createFakeClock()) {
  const events: NewEvent[] = []
  const logged: string[] = []
  const log = createLog({ level: 'debug', now: clock.now, write: line => logged.push(line) })
  const deps = { store, clock, newId: createIds(clock.now), log, timezone: 'UTC' }
  const pins = await openToolPins(deps, async event => events.push(event))
  const servers = (tools: readonly Tool[], trust: 'own' | 'third', isThere = true) => {
    const transport = { kind: 'http' as const, url: 'http://127.0.0.1:1/', headers: {} }
    const spec = { name: 'files', origin: 'config' as const, prefix: 'files__', transport, trust }
    const status = { state: 'ready' as const, era: 'modern' as const, transport: 'http' as const }
    const part = { spec, offer: { ...NO_OFFER, tools: structuredClone(tools) }, instructions: '', status }
    const taken = { tools: new Set<string>(), prompts: new Set<string>(), isOwn: () => false }
    return {
      catalogue: buildCatalogue(isThere ? [part] : [], {
        taken,
        longest: 64,
        owners: NO_OWNERS,
        toolRules: {},
      }),
      specOf: () => (isThere ? spec : undefined),
      settled: true,
      status: () => [],
    }
  }
  return {
    pins,
    logged,
    events: () => events.splice(0),
    /** Lists tools, and returns why calls of each would ask. */
    list(tools: readonly Tool[], trust: 'own' | 'third' = 'third') {
      const listed = servers(tools, trust)
      pins.look(listed)
      return listed.catalogue.tools.map(({ definition }) => pins.risenOf(definition))
    },
    /** Lists one tool, and returns its class for the policy. */
    classOf(one: Tool) {
      const listed = servers([one], 'third')
      pins.look(listed)
      return listed.catalogue.tools.map(({ definition }) => pins.classOf(definition))[0]
    },
    remove: () => pins.look(servers([], 'third', false)),
    [Symbol.asyncDispose]: () => pins[Symbol.asyncDispose](),
  }
}

test('a tool that its server makes more dangerous asks until a person accepts it, over restarts too', async () => {
  await using store = await openTempStore()
  {
    await using run = await startRun(store)
    expect(run.list([tool('list'), tool('read')])).toEqual([undefined, undefined])
    expect([run.events(), run.pins.changedOf('files')]).toEqual([[], []])
  }
  {
    await using run = await startRun(store)
    const why = /^its server changed it from look to destroy on \d{4}-\d\d-\d\d; superbloom servers accept/
    const changed = [tool('list', DESTROYS), tool('read')]
    expect(run.list(changed)).toEqual([expect.stringMatching(why), undefined])
    expect(run.list(changed)[0]).toMatch(why)
    await run.pins[Symbol.asyncDispose]()
    const payload = {
      server: 'files',
      tool: 'list',
      what: ['annotations'],
      before: { annotations: '{"readOnlyHint":true}' },
      after: { annotations: '{"destructiveHint":true}' },
    }
    // Once for the change, not once for each listing.
    expect(run.events()).toMatchObject([{ type: 'hub.tool_changed', power: 'foreign', payload }])
    expect(run.logged.filter(line => line.includes('tool_changed'))).toHaveLength(1)
  }
  await using run = await startRun(store)
  expect(run.list([tool('list', DESTROYS), tool('read')])[0]).toContain('from look to destroy')
  // The risk that its server once declared is not taken back by its server.
  expect(run.list([tool('list'), tool('read')])[0]).toContain('from look to destroy')
  expect(run.list([tool('list', DESTROYS), tool('read')])[0]).toContain('from look to destroy')
  expect(run.pins.changedOf('files')).toEqual([
    { name: 'list', what: ['annotations'], rise: { from: 'look', to: 'destroy' } },
  ])
  expect(await run.pins.accept('files', 'owner')).toEqual(['list'])
  expect(run.pins.changedOf('files')).toEqual([])
  await using next = await startRun(store)
  expect(next.list([tool('list', DESTROYS), tool('read')])).toEqual([undefined, undefined])
  expect(next.events()).toEqual([])
})

test('a change that makes a tool no more dangerous only notifies, and so does a new tool', async () => {
  await using store = await openTempStore()
  await using run = await startRun(store)
  run.list([tool('list', DESTROYS), tool('read')])
  const long = `Lists files. ${'x'.repeat(500)}`
  const asking = run.list([tool('list'), tool('read', LOOKS, long), tool('stop', DESTROYS)])
  expect(asking).toEqual([undefined, undefined, undefined])
  await run.pins[Symbol.asyncDispose]()
  const [lower, words, added] = run.events()
  expect(lower).toMatchObject({ payload: { tool: 'list', what: ['annotations'] } })
  expect(words).toMatchObject({
    key: 'files/read',
    payload: { what: ['description'], before: { description: 'Lists files' } },
  })
  expect(JSON.stringify(words)).toContain('(213 more characters)')
  expect(added).toMatchObject({ type: 'hub.tool_added', payload: { server: 'files', tool: 'stop' } })
  expect(run.pins.changedOf('files').map(({ name }) => name)).toEqual(['list', 'read'])
})

test.each<[Tool['annotations'], Tool['annotations'], boolean]>([
  [LOOKS, undefined, true],
  [LOOKS, { openWorldHint: true }, true],
  [undefined, DESTROYS, true],
  [undefined, { openWorldHint: true }, true],
  [{ openWorldHint: true }, DESTROYS, true],
  [DESTROYS, { openWorldHint: true }, false],
  [{ openWorldHint: true }, undefined, false],
  [DESTROYS, LOOKS, false],
])('from %j to %j asks: %s', async (before, after, asks) => {
  await using store = await openTempStore()
  await using run = await startRun(store)
  const bare: Tool = { name: 'x', inputSchema: { type: 'object' } }
  run.list([{ ...bare, ...(before ? { annotations: before } : {}) }])
  const [why] = run.list([{ ...bare, ...(after ? { annotations: after } : {}) }])
  expect(why !== undefined).toBe(asks)
})

test('pins go when the operator removes the server or makes it their own, not while it lists nothing', async () => {
  await using store = await openTempStore()
  await using run = await startRun(store)
  const pinned = async () => {
    await run.pins[Symbol.asyncDispose]()
    return (await readToolPins(store.db)).map(row => row.tool)
  }
  run.list([tool('list')])
  expect(await pinned()).toEqual(['list'])
  run.list([])
  expect(await pinned()).toEqual(['list'])
  await expect(run.pins.accept('files', 'owner')).rejects.toThrow('are listed now')
  run.remove()
  expect(await pinned()).toEqual([])
  expect(run.list([tool('list', DESTROYS)])).toEqual([undefined])
  run.list([tool('list')], 'own')
  expect(await pinned()).toEqual([])
})

test('pins come back with a server whose removal was undone, and hold again', async () => {
  await using store = await openTempStore()
  await using run = await startRun(store)
  run.list([tool('list')])
  expect(run.list([tool('list', DESTROYS)])[0]).toContain('from look to destroy')
  run.remove()
  run.pins.bringBack('files')
  run.remove()
  expect(run.list([tool('list', DESTROYS)])[0]).toContain('from look to destroy')
  await run.pins[Symbol.asyncDispose]()
  expect(await readToolPins(store.db)).toMatchObject([{ tool: 'list', class: 'look', risen_to: 'destroy' }])
  // A server that is added anew begins without them.
  run.remove()
  expect(run.list([tool('list', DESTROYS)])).toEqual([undefined])
})

test('tools of one name, with a very long one or with a schema nested deeply, are told apart', async () => {
  await using store = await openTempStore()
  await using run = await startRun(store)
  const deep: Tool['inputSchema'] = JSON.parse(
    `{"type":"object","default":${'['.repeat(3_000)}${']'.repeat(3_000)}}`,
  )
  const odd = (annotations: Tool['annotations']): Tool[] => [
    { ...tool('x'), inputSchema: deep },
    tool('x', DESTROYS),
    tool('y'.repeat(5_000), annotations),
  ]
  expect(run.list(odd(LOOKS))).toEqual([undefined, undefined, undefined])
  expect(run.list(odd(DESTROYS))).toEqual([undefined, undefined, expect.stringContaining('to destroy')])
  expect(run.pins.changedOf('files')).toMatchObject([
    { name: expect.stringMatching(/^y{191}_[0-9a-f]{8}$/), rise: { to: 'destroy' } },
  ])
})

test('a server that lists ever new names is remembered up to a bound, and tools beyond it ask', async () => {
  await using store = await openTempStore()
  await using run = await startRun(store)
  const many = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => tool(`t${from + index}`))
  run.list(many(0, 1_000))
  run.list(many(1_000, 1_000))
  expect(run.list(many(2_000, 1))).toEqual([expect.stringContaining('more tools than the hub remembers')])
  await run.pins.accept('files', 'owner')
  expect(run.list(many(2_000, 1))).toEqual([undefined])
})

test('a server does not make its tools more harmless by itself', async () => {
  await using store = await openTempStore()
  await using run = await startRun(store)
  expect(run.classOf(tool('wipe', DESTROYS))).toBe('destroy')
  expect(run.classOf(tool('wipe'))).toBe('destroy')
  await run.pins.accept('files', 'alex')
  expect(run.classOf(tool('wipe'))).toBe('look')
})
