import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { InboxPayload } from '../../schemas/inbox.ts'
import { drainItems } from '../../tests/support/drain-items.ts'
import { openWorld, type World } from '../../tests/support/runtime-world.ts'
import { holdSchedules } from '../store/schedules.ts'

const inboxOf = async ({ store }: World) => {
  const rows = await store.db.selectFrom('inbox').selectAll().orderBy('seq').execute()
  return rows.map(row => ({ ...row, payload: JSON.parse(row.payload_json) as InboxPayload }))
}

/** Opens a world in which no cycle runs: what is posted stays in the inbox. */
async function openQuiet(...args: Parameters<typeof openWorld>) {
  const world = await openWorld(...args)
  await world.start()
  world.semaphore.resize(0)
  return world
}

const event = (externalId: string, payload: Record<string, unknown> = {}, type = 'cpu_high') => ({
  source: 'metrics',
  externalId,
  type,
  payload,
  at: 1,
})

test('promise 1: a message is in the conversation and in the inbox when it is accepted', async () => {
  await using world = await openQuiet()
  const sent = await world.post('hi')
  expect(sent).toMatchObject({ seq: 1, kind: 'user', author: 'alex', conversation: 'homelab', text: 'hi' })
  expect(await inboxOf(world)).toMatchObject([
    {
      thread_id: 'thr_homelab',
      source: 'chat',
      external_id: sent.id,
      conversation_id: 'homelab',
      cycle_id: null,
    },
  ])
  expect(world.seen.messages.all).toEqual([sent])
})

test('promise 2: a clientId counts within its author and conversation', async () => {
  await using world = await openQuiet()
  const post = (conversation: string, author: string, text: string) =>
    world.router.postMessage({ conversation, text, author, clientId: '1' })
  const first = await post('homelab', 'owner', 'hi')
  expect(await post('homelab', 'owner', 'hi again')).toEqual(first)
  expect((await post('homelab', 'other', 'hi')).id).not.toBe(first.id)
  expect((await post('homelab/x', 'owner', 'hi')).id).not.toBe(first.id)
  expect(await inboxOf(world)).toHaveLength(3)
  expect(world.seen.messages.all).toHaveLength(3)
})

test('promise 2: what was accepted before its agent went gives the same answer, and nothing else is taken', async () => {
  await using world = await openQuiet({ agents: [{ name: 'homelab' }, { name: 'aunt' }] })
  const copies = ['hi', '/stop', '/reset'].map((text, index) => [text, String(index)] as const)
  const post = ([text, clientId]: readonly [string, string]) => world.post(text, 'aunt', clientId)
  const accepted = []
  for (const copy of copies) accepted.push(await post(copy))
  const inbox = await inboxOf(world)
  world.agents.delete('aunt')
  for (const [index, copy] of copies.entries()) expect(await post(copy)).toEqual(accepted[index])
  for (const copy of [['hi', 'new'], ['hi']] as const)
    await expect(world.post(copy[0], 'aunt', copy[1])).rejects.toThrow(/no agent for the conversation aunt/)
  await expect(world.post('hi', 'Not/A/Name', '0')).rejects.toThrow(/no conversation's id/)
  expect(await inboxOf(world)).toEqual(inbox)
})

test('a message goes to the agent of its conversation', async () => {
  const agents = [
    { name: 'aunt', conversations: ['kitchen', 'aunt'] },
    { name: 'homelab', conversations: ['lab'] },
  ]
  await using world = await openQuiet({ agents })
  for (const conversation of ['kitchen', 'aunt/x', 'lab', 'homelab', 'homelab/y'])
    await world.post('hi', conversation)
  expect((await inboxOf(world)).map(({ thread_id: thread }) => thread)).toEqual([
    'thr_aunt',
    'thr_aunt',
    'thr_homelab',
    'thr_homelab',
    'thr_homelab',
  ])
  expect(world.router.agentsOf('kitchen')).toEqual(['aunt'])
  expect(world.router.agentsOf('attic')).toEqual([])
})

test.for([
  ['attic', 'not_found', /no agent for the conversation attic; agents: homelab/],
  ['Not A Name', 'invalid_arguments', /<agent> or <agent>\/<slug>/],
  ['../etc', 'invalid_arguments', /<agent> or <agent>\/<slug>/],
] as const)('a message to %s is refused with %s', async ([conversation, code, text]) => {
  await using world = await openQuiet()
  await expect(world.post('hi', conversation)).rejects.toMatchObject({
    code,
    message: expect.stringMatching(text),
  })
  expect(await inboxOf(world)).toEqual([])
})

test('an event goes to every agent that lists it, once by source and id', async () => {
  const agents = [
    { name: 'a', events: ['cpu_high'] },
    { name: 'b', events: [{ type: 'cpu_*', match: { host: 'nas*' } }] },
    { name: 'c', events: ['disk_high'] },
  ]
  await using world = await openQuiet({ agents })
  const routed = await world.router.postEvent(event('1', { host: 'nas1' }))
  expect(routed).toMatchObject({ status: 'pending', routedTo: ['thr_a', 'thr_b'] })
  expect(await world.router.postEvent(event('1', { host: 'nas1' }))).toBeUndefined()
  expect((await world.router.postEvent(event('2', { host: 'pc' })))?.routedTo).toEqual(['thr_a'])
  expect((await inboxOf(world)).map(({ thread_id: thread }) => thread)).toEqual(['thr_a', 'thr_b', 'thr_a'])
})

test('an event that nobody wants is recorded as ignored, with a note', async () => {
  await using world = await openQuiet()
  expect(await world.router.postEvent(event('1'))).toMatchObject({ status: 'ignored', routedTo: [] })
  const [row] = await world.store.db.selectFrom('events').selectAll().execute()
  expect(row).toMatchObject({
    status: 'ignored',
    note: 'no agent lists it and no thread waits for it',
    key: '{}',
  })
  expect(await inboxOf(world)).toEqual([])
})

test('events are pending until a thread took them, and handled then', async () => {
  await using world = await openQuiet({ agents: [{ events: ['cpu_high'] }] })
  await world.router.postEvent(event('1'))
  const status = () => world.store.db.selectFrom('events').select('status').execute()
  expect(await status()).toEqual([{ status: 'pending' }])
  world.model.script(() => ({ text: '', calls: [], truncated: false }))
  world.semaphore.resize(1)
  await world.idle()
  expect(await status()).toEqual([{ status: 'handled' }])
})

test('a feed is posted with its cursor, in one piece', async () => {
  await using world = await openQuiet({ agents: [{ events: ['*'] }] })
  const cursor = { stream: 's1', cursor: 7 }
  const joined = (id: string) => event(id, { server: id }, 'player_joined')
  await world.router.postFeed('metrics', [joined('1'), joined('2')], cursor)
  await world.router.postFeed('metrics', [joined('2'), joined('3')], { ...cursor, cursor: 8 })
  const ids = (await world.store.db.selectFrom('events').selectAll().execute()).map(row => row.external_id)
  expect(ids.sort()).toEqual(['1', '2', '3'])
  expect(await inboxOf(world)).toHaveLength(3)
  expect(await world.store.db.selectFrom('event_cursors').selectAll().execute()).toEqual([
    { server: 'metrics', stream: 's1', cursor: 8 },
  ])
})

test('posts to an agent whose file is gone are refused, and its schedules held until it is back', async () => {
  await using world = await openQuiet({ agents: [{ name: 'a' }, { name: 'b' }] })
  world.agents.delete('a')
  expect(await world.applyAgents()).toEqual({ retired: ['a'] })
  await expect(world.post('hi', 'a')).rejects.toMatchObject({
    code: 'retired',
    message: expect.stringContaining('its file agents/a.md is gone'),
  })
  await expect(world.post('hi', 'a/x')).rejects.toMatchObject({ code: 'retired' })
})

test('without any agent all are retired, and all schedules held', async () => {
  await using world = await openQuiet({
    agents: [{ schedules: [{ cron: '0 8 * * *', reason: 'report' }] }],
  })
  world.agents.clear()
  expect(await world.applyAgents()).toEqual({ retired: ['homelab'] })
  const status = () => world.store.db.selectFrom('schedules').select('status').execute()
  expect(await status()).toEqual([{ status: 'held' }])
  await world.store.write(tx => holdSchedules(tx, { came: ['homelab'], went: [] }))
  expect(await status()).toEqual([{ status: 'active' }])
})

test('promise 2: inbox order and once-ness under any interleaving of posts, repeats and drains', async () => {
  const action = fc.oneof(
    fc.record({
      kind: fc.constant('post' as const),
      id: fc.nat(12),
      place: fc.constantFrom('homelab', 'homelab/x'),
    }),
    fc.record({ kind: fc.constant('event' as const), id: fc.nat(12), place: fc.constant('') }),
    fc.record({ kind: fc.constant('drain' as const), id: fc.constant(0), place: fc.constant('') }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 40 }), async actions => {
      await using world = await openQuiet({ agents: [{ events: ['*'] }] })
      const drained: { cycle: number; what: string }[] = []
      let cycle = 0
      const running = actions.map(async ({ kind, id, place }): Promise<unknown> => {
        if (kind === 'post') return world.post(`${place} ${id}`, place, String(id))
        if (kind === 'event') return world.router.postEvent(event(String(id), { id }))
        const mine = cycle++
        const items = await world.store.write(tx => drainItems(tx, 'thr_homelab', `cyc_${mine}`))
        return drained.push(...items.map(item => ({ cycle: mine, what: nameOf(item.payload) })))
      })
      await Promise.all(running)
      const rest = await world.store.write(tx => drainItems(tx, 'thr_homelab', 'cyc_last'))
      drained.push(...rest.map(item => ({ cycle, what: nameOf(item.payload) })))
      const firsts = actions.flatMap(({ kind, id, place }) =>
        kind === 'post' ? [`${place} ${id}`] : kind === 'event' ? [`event ${id}`] : [],
      )
      expect(drained.map(({ what }) => what)).toEqual([...new Set(firsts)])
    }),
    { numRuns: 30 },
  )
})

function nameOf(payload: InboxPayload): string {
  if (payload.kind === 'message') return payload.text
  return payload.kind === 'event' ? `event ${String(payload.event.payload['id'])}` : payload.kind
}
