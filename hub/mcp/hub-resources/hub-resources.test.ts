import { expect, test } from 'vitest'
import { EVENTS_AT_ONCE, eventFeed } from '../../../schemas/events.ts'
import { createFakeClock } from '../../../tests/support/fake-clock.ts'
import { openTempStore } from '../../../tests/support/temp-store.ts'
import { createIds } from '../../core/ids.ts'
import { createSignals } from '../../core/signals.ts'
import { storeContext } from '../../store/context.ts'
import { appendMessage } from '../../store/conversations.ts'
import { type NewEventRow, readEventFeed, recordEvent } from '../../store/events.ts'
import { createSchedule } from '../../store/schedules.ts'
import type { ListedAgent } from '../hub-tools/deps.ts'
import { createHubResources, ownsResource } from './hub-resources.ts'

const agent = (name: string, over: Partial<ListedAgent> = {}): ListedAgent => ({
  name,
  description: `Is ${name}`,
  shared: false,
  status: 'sleeping',
  conversations: [name],
  ...over,
})
const AGENTS = [
  agent('homelab'),
  agent('zoe', { description: '' }),
  agent('old', { status: 'retired', conversations: [] }),
]

async function openWorld() {
  const store = await openTempStore()
  const clock = createFakeClock()
  const resources = createHubResources({
    store,
    clock,
    newId: createIds(clock.now),
    signals: createSignals(error => expect.fail(String(error))),
    timezone: 'UTC',
    agents: async () => AGENTS,
  })
  const read = async (uri: string) => {
    const { contents } = await resources.read(uri)
    const [content, ...more] = contents
    if (!content || !('text' in content) || more.length > 0) throw new Error(`${uri} is not one text`)
    expect(content).toMatchObject({ uri, mimeType: 'application/json' })
    return JSON.parse(content.text) as unknown
  }
  return {
    store,
    clock,
    resources,
    read,
    readFeed: async (uri: string) => eventFeed.parse(await read(uri)),
    say: (conversation: string, text: string) =>
      store.write(tx =>
        appendMessage(tx, {
          id: `msg_${text}`,
          conversation,
          kind: 'user',
          author: 'alex',
          text,
          at: clock.now(),
        }),
      ),
    record: (id: string, over: Partial<NewEventRow> = {}) =>
      store.write(tx =>
        recordEvent(tx, {
          id,
          source: 's',
          external_id: id,
          type: 'cpu_high',
          key: '{"host":"nas"}',
          payload_json: '{"host":"nas"}',
          status: 'ignored',
          routed_to_json: '[]',
          note: null,
          at: 7,
          received_at: clock.now(),
          repeats: 0,
          release_at: null,
          is_storm: 0,
          ...over,
        }),
      ),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

test('events, agents that are there, their conversations and the recent ones are listed, in a stable order', async () => {
  await using world = await openWorld()
  await world.say('zoe/mcp-owner', 'a')
  await world.say('homelab/late', 'b')
  const uris = (await world.resources.list()).map(({ uri }) => uri)
  expect(uris).toEqual([
    'events://hub',
    'hub://agents/homelab',
    'hub://agents/zoe',
    'hub://conversations/homelab',
    'hub://conversations/homelab/late',
    'hub://conversations/zoe',
    'hub://conversations/zoe/mcp-owner',
  ])
  await world.say('zoe/mcp-owner', 'c')
  expect((await world.resources.list()).map(({ uri }) => uri)).toEqual(uris)
  expect(world.resources.templates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    'events://hub{?after}',
    'hub://agents/{name}',
    'hub://conversations/{+id}',
  ])
})

test('of many conversations the most recent are listed, and the others are still read', async () => {
  await using world = await openWorld()
  for (let count = 0; count < 60; count++) {
    world.clock.advance(1)
    await world.say(`homelab/c${count}`, `hello ${count}`)
  }
  const uris = (await world.resources.list()).map(({ uri }) => uri)
  expect(uris.filter(uri => uri.startsWith('hub://conversations/homelab/'))).toHaveLength(50)
  expect(uris).not.toContain('hub://conversations/homelab/c9')
  expect(uris).toContain('hub://conversations/homelab/c10')
  expect(await world.read('hub://conversations/homelab/c9')).toMatchObject({ lastSeq: 1 })
})

test('an agent has what it does, its wake-ups, and the keys of what it remembers but not the facts', async () => {
  await using world = await openWorld()
  await world.store.write(async tx => {
    await storeContext(
      tx,
      { scope: 'agent', owner: 'homelab' },
      { key: 'wishes', value: 'a secret wish', power: 'person' },
      1,
    )
    await storeContext(
      tx,
      { scope: 'thread', owner: 'thr_homelab' },
      { key: 'other', value: 'x', power: 'person' },
      1,
    )
    const schedule = {
      thread_id: 'thr_homelab',
      kind: 'once',
      cron: null,
      timezone: 'UTC',
      next_run: 5,
      wake_on_events_json: '[]',
      conversation_id: null,
      status: 'active',
      created_by: 'alex',
      created_at: 1,
      last_run: null,
    } as const
    await createSchedule(tx, { ...schedule, id: 'sch_1', agent: 'homelab', reason: 'look' })
    await createSchedule(tx, { ...schedule, id: 'sch_2', agent: 'zoe', reason: 'other' })
  })
  const homelab = await world.read('hub://agents/homelab')
  expect(homelab).toMatchObject({
    name: 'homelab',
    description: 'Is homelab',
    status: 'sleeping',
    conversations: ['homelab'],
    tokensToday: 0,
    windowTokens: 0,
    schedules: [{ id: 'sch_1', reason: 'look', nextRun: 5 }],
    contextKeys: ['wishes'],
  })
  expect(JSON.stringify(homelab)).not.toContain('secret')
  expect(await world.read('hub://agents/old')).toMatchObject({ status: 'retired' })
})

test('a conversation has its last messages; one that nobody used yet is empty', async () => {
  await using world = await openWorld()
  for (let count = 1; count <= 53; count++) await world.say('homelab/mcp-owner', `message ${count}`)
  const read = (await world.read('hub://conversations/homelab/mcp-owner')) as { messages: { text: string }[] }
  expect(read).toMatchObject({ conversation: 'homelab/mcp-owner', agents: ['homelab'], lastSeq: 53 })
  expect([read.messages.length, read.messages[0]?.text]).toEqual([50, 'message 4'])
  expect(read.messages.at(-1)).toMatchObject({ seq: 53, author: 'alex', text: 'message 53' })
  expect(await world.read('hub://conversations/homelab%2Fmcp-owner')).toEqual(read)
  expect(await world.read('hub://conversations/zoe')).toEqual({
    conversation: 'zoe',
    agents: ['zoe'],
    messages: [],
    lastSeq: 0,
  })
})

test("events are read on from a cursor, as a server's are", async () => {
  await using world = await openWorld()
  const { stream } = await readEventFeed(world.store.db)
  expect(await world.readFeed('events://hub')).toEqual({ stream, cursor: 0, events: [] })
  await world.record('evt_1')
  await world.record('evt_2', { type: 'webhook.x', key: 'k'.repeat(501), payload_json: '{"a":{"b":[1]}}' })
  const feed = await world.readFeed('events://hub')
  expect(feed).toEqual({
    stream,
    cursor: 2,
    events: [
      { id: 'evt_1', seq: 1, type: 'cpu_high', key: '{"host":"nas"}', payload: { host: 'nas' }, at: 7 },
      { id: 'evt_2', seq: 2, type: 'webhook.x', payload: { a: { b: [1] } }, at: 7 },
    ],
  })
  expect(await world.readFeed('events://hub?after=0')).toEqual(feed)
  expect(await world.readFeed('events://hub?after=1')).toEqual({ ...feed, events: feed.events.slice(1) })
  expect(await world.readFeed('events://hub?after=2')).toEqual({ ...feed, events: [] })
  expect(await world.readFeed('events://hub?after=99')).toEqual({ ...feed, events: [] })
})

test('of many events the last are given, and all of them from page to page', async () => {
  await using world = await openWorld()
  const many = 2 * EVENTS_AT_ONCE + 5
  for (let count = 1; count <= many; count++) await world.record(`evt_${count}`)
  const newest = await world.readFeed('events://hub')
  expect([newest.cursor, newest.events[0]?.seq, newest.events.length]).toEqual([
    many,
    many - EVENTS_AT_ONCE + 1,
    EVENTS_AT_ONCE,
  ])
  const seen: number[] = []
  for (let cursor = 0, before = -1; cursor !== before; ) {
    before = cursor
    const page = await world.readFeed(`events://hub?after=${cursor}`)
    seen.push(...page.events.map(({ seq }) => seq))
    cursor = page.cursor
  }
  expect(seen).toEqual(Array.from({ length: many }, (_, index) => index + 1))
})

test('arguments of the templates are proposed', async () => {
  await using world = await openWorld()
  await world.say('homelab/mcp-owner', 'a')
  await world.say('homelab/zz', 'b')
  const complete = (template: string, name: string, value: string) =>
    world.resources.complete(template, { name, value })
  expect(await complete('hub://agents/{name}', 'name', '')).toEqual(['homelab', 'zoe'])
  expect(await complete('hub://agents/{name}', 'name', 'z')).toEqual(['zoe'])
  expect(await complete('hub://agents/{name}', 'id', '')).toEqual([])
  expect(await complete('hub://conversations/{+id}', 'id', 'home')).toEqual([
    'homelab',
    'homelab/mcp-owner',
    'homelab/zz',
  ])
  expect(await complete('hub://conversations/{+id}', 'id', 'homelab/m')).toEqual(['homelab/mcp-owner'])
  expect(await complete('events://hub{?after}', 'after', '')).toEqual([])
  expect(await complete('file:///{path}', 'path', '')).toEqual([])
})

test.for<[string, RegExp]>([
  ['hub://agents/nobody', /no agent nobody; agents: homelab, zoe, old/],
  ['hub://agents/', /no agent ; agents/],
  ['hub://conversations/nobody/x', /no conversation nobody\/x: an id is .*homelab/],
  ['hub://conversations/homelab/Not One', /no conversation homelab\/Not One/],
  ['hub://conversations/old', /no conversation old/],
  ['hub://other', /no resource hub:\/\/other; the hub's own are events:\/\/hub, .*hub:\/\/agents\/\{name\}/],
  ['events://hub?after=-1', /events:\/\/hub\?after=<number> is meant/],
  ['events://hub?since=1', /events:\/\/hub\?after=<number> is meant/],
])('%s is not found, and it is said what there is', async ([uri, words]) => {
  await using world = await openWorld()
  expect(ownsResource(uri)).toBe(true)
  await expect(world.resources.read(uri)).rejects.toThrow(
    expect.objectContaining({ code: 'not_found', message: expect.stringMatching(words) }),
  )
})

test.for(['events://hubs', 'events://metrics', 'events://hub/x', 'file:///hub', 'hubs://x'])(
  '%s is not its own',
  async uri => {
    await using world = await openWorld()
    expect(ownsResource(uri)).toBe(false)
    await expect(world.resources.read(uri)).rejects.toThrow(/no resource/)
  },
)
