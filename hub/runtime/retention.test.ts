import { expect, test } from 'vitest'
import { openWorld, type World } from '../../tests/support/runtime-world.ts'
import { call, say, type Turn } from '../../tests/support/scripted-model.ts'
import { createLog } from '../core/log.ts'
import { record, verifyAudit } from '../store/audit-log.ts'
import { endSession } from '../store/sessions.ts'
import { moveWindow } from '../store/threads.ts'
import { createRetention } from './retention.ts'

const DAY = 86_400_000

function openRetention(world: World, days = 365, auditDays = days) {
  const log = createLog({
    level: 'debug',
    now: world.clock.now,
    write: line => world.seen.log.add(JSON.parse(line)),
  })
  const kept = () => ({ days, fileDays: days, auditDays })
  const retention = createRetention({ store: world.store, clock: world.clock, log, kept })
  return {
    retention,
    async run() {
      await retention.fire()
      await retention.settled()
    },
    [Symbol.asyncDispose]: () => retention[Symbol.asyncDispose](),
  }
}

async function ask(world: World, text: string, ...turns: Turn[]): Promise<void> {
  world.model.script(...(turns.length > 0 ? turns : [say('ok')]))
  await world.post(text)
  await world.idle()
}

async function leaveWindow(world: World): Promise<void> {
  await world.store.write(async tx => {
    const thread = await tx.selectFrom('threads').selectAll().executeTakeFirstOrThrow()
    const part = { thread_id: thread.id, first_seq: thread.window_start, last_seq: thread.last_seq }
    const stands = {
      tokens: 1,
      summary: 'gone',
      summary_by: 'extract',
      head: null,
      ended_at: world.clock.now(),
    }
    await endSession(tx, { ...part, ...stands, reason: 'compaction' })
    await moveWindow(tx, thread.id, thread.last_seq + 1)
  })
}

const TABLES = [
  'messages',
  'history',
  'history_texts',
  'sessions',
  'cycles',
  'tool_calls',
  'inbox',
  'events',
] as const

async function counts({ store }: World): Promise<Record<(typeof TABLES)[number], number>> {
  const all = TABLES.map(async table => {
    const row = await store.db
      .selectFrom(table)
      .select(eb => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return [table, Number(row.count)] as const
  })
  return Object.fromEntries(await Promise.all(all)) as Record<(typeof TABLES)[number], number>
}

test('handled inbox items go after 30 days, before anything else; a delivery is absorbed until then', async () => {
  await using world = await openWorld()
  await using keeping = openRetention(world)
  await world.start()
  await ask(world, 'one')
  const before = await counts(world)
  world.clock.advance(29 * DAY)
  await keeping.run()
  expect(await counts(world)).toEqual(before)
  world.clock.advance(2 * DAY)
  await keeping.run()
  expect(await counts(world)).toEqual({ ...before, inbox: 0 })
})

test('what is older than the retention goes, but the window, what waits, and the newest session stay', async () => {
  await using world = await openWorld()
  await using keeping = openRetention(world, 40)
  await world.start()
  await world.router.postEvent({ source: 's', externalId: '1', type: 'unheard', payload: {}, at: 1 })
  const twice = [call([['get_context', {}]]), say('ok')]
  await ask(world, 'oldest', ...twice)
  await leaveWindow(world)
  await ask(world, 'older', say('ok'))
  await leaveWindow(world)
  await ask(world, 'in the window', say('ok'))
  world.clock.advance(30 * DAY)
  await ask(world, 'young', say('ok'))
  const before = await counts(world)
  expect(before).toMatchObject({ sessions: 2, history: 10, tool_calls: 1, events: 1, cycles: 4 })
  world.clock.advance(20 * DAY)
  await keeping.run()
  expect(await counts(world)).toEqual({
    messages: 2,
    history: 4,
    history_texts: 0,
    sessions: 1,
    cycles: 1,
    tool_calls: 0,
    inbox: 1,
    events: 0,
  })
  // The thread goes on as before.
  await ask(world, 'again', say('fine'))
  const asked = world.model.requests.all
    .at(-1)
    ?.messages.map(({ text }) => text)
    .join('\n')
  expect(asked).toContain('in the window')
  expect(world.seen.messages.all.at(-1)).toMatchObject({ text: 'fine', seq: 11 })
})

test('a task that ended long ago goes whole', async () => {
  await using world = await openWorld()
  await using keeping = openRetention(world, 40)
  await world.start()
  await ask(world, 'work')
  const ended = { kind: 'task', status: 'complete', ended_at: world.clock.now() } as const
  await world.store.write(tx => tx.updateTable('threads').set(ended).execute())
  world.clock.advance(41 * DAY)
  await keeping.run()
  expect(await counts(world)).toMatchObject({ history: 0, cycles: 0, inbox: 0 })
  expect(await world.store.db.selectFrom('threads').select('id').execute()).toEqual([])
})

test('many rows go in many commits', async () => {
  await using world = await openWorld()
  await using keeping = openRetention(world, 40)
  await world.start()
  await world.store.write(async tx => {
    const row = {
      source: 's',
      type: 't',
      key: 'k',
      payload_json: '{}',
      routed_to_json: '[]',
      note: null,
      at: 1,
    }
    for (let count = 0; count < 1_200; count++) {
      const ids = { id: `evt_${count}`, external_id: `${count}` }
      await tx
        .insertInto('events')
        .values({ ...row, ...ids, status: 'handled', received_at: 1, seq: count })
        .execute()
    }
  })
  await keeping.run()
  expect(await counts(world)).toMatchObject({ events: 0 })
  expect(world.seen.log.all).toContainEqual(
    expect.objectContaining({ event: 'pruned', rows: 1_200, days: 40 }),
  )
})

test('it is due once a day, not at the start, and remembers over starts when it ran', async () => {
  await using world = await openWorld()
  await world.start()
  const began = world.clock.now()
  {
    await using keeping = openRetention(world, 40)
    expect(await keeping.retention.nextDue()).toBe(began + 600_000)
    world.clock.advance(600_000)
    await keeping.run()
    expect(await keeping.retention.nextDue()).toBe(began + 600_000 + DAY)
  }
  world.clock.advance(3_600_000)
  await using again = openRetention(world, 40)
  expect(await again.retention.nextDue()).toBe(began + 600_000 + DAY)
  world.clock.jump(-30 * DAY)
  expect(await again.retention.nextDue()).toBe(world.clock.now() + DAY)
})

test('the audit has a retention of its own, after which its chain holds', async () => {
  await using world = await openWorld()
  await world.start()
  await using keeping = openRetention(world, 365, 10)
  const note = () =>
    world.store.write(tx => record(tx, { at: world.clock.now(), kind: 'start', actor: 'hub', outcome: 'ok' }))
  for (let day = 0; day < 20; day += 5) {
    await note()
    world.clock.jump(5 * DAY)
  }
  await keeping.run()
  expect(await verifyAudit(world.store.db)).toMatchObject({ first: 3, last: 5 })
  await note()
  expect(await verifyAudit(world.store.db)).toMatchObject({ first: 3, last: 6 })
  expect((await verifyAudit(world.store.db)).broken).toBeUndefined()
})
