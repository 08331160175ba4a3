import v8 from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { ARGUMENTS, onlyApproval, stopTool } from '../../tests/support/approvals.ts'
import type { Death } from '../../tests/support/mortal.ts'
import { openWorld, type World } from '../../tests/support/runtime-world.ts'
import { call, hold, say, type Turn } from '../../tests/support/scripted-model.ts'
import { event, inboxOf, look, openWithTask, threadsOf } from '../../tests/support/task-world.ts'
import { until } from '../../tests/support/until.ts'
import { decideOpen } from '../store/approvals.ts'
import { postItem } from '../store/inbox.ts'
import { allowCall } from '../store/ledger.ts'
import { endTask } from '../store/tasks.ts'
import { threadsWithWork } from '../store/threads.ts'

/** Answers with a turn of the thread that asks, main or task, by the steps that its window shows. */
const byThread =
  (main: readonly Turn[], task: readonly Turn[]): Turn =>
  (request, options) => {
    const steps = request.messages.filter(({ role }) => role === 'assistant').length
    const turns = request.system.includes('The task:') ? task : main
    return (turns[steps] ?? say('nothing left to say'))(request, options)
  }

test('a cancelled task stops at its next boundary with its calls paired, and so do its own', async () => {
  await using world = await openWorld({ tools: [look] })
  const held = hold(call([['look'], ['look']]))
  const own = { instructions: 'small', tools: ['*', 'create_task'] }
  const cancel: Turn = async (request, options) => {
    await held.begun
    const facts = request.messages.findLast(({ role }) => role === 'user')?.text ?? ''
    const id = /- (thr_homelab\.task_[a-z0-9]+), for/.exec(facts)?.[1]
    return call([['cancel_task', { id }]])(request, options)
  }
  const steps = byThread(
    [
      call([['create_task', { instructions: 'big', tools: ['create_task'] }]]),
      say('begun'),
      cancel,
      say('gone'),
    ],
    [
      call([
        ['create_task', own],
        ['schedule_cron', { cron: '0 8 * * *', reason: 'x' }],
      ]),
      held.turn,
    ],
  )
  // The small task waits for an event; only the big one's model is held.
  const policy: Turn = (request, options) =>
    request.system.includes('The task:\nsmall')
      ? call([['schedule_wake', { delay: 'on_event', reason: 'x', wake_on_events: ['never'] }]])(
          request,
          options,
        )
      : steps(request, options)
  world.model.script(...Array.from({ length: 8 }, () => policy))
  await world.start()
  await world.post('go')
  await held.begun
  await world.seen.ended.find('the main thread sleeps', ({ thread }) => thread === 'thr_homelab')
  await world.post('stop it')
  await world.seen.messages.find('cancelled', ({ text }) => text === 'gone')
  held.release()
  await world.idle()
  expect((await threadsOf(world)).map(({ status, depth }) => [status, depth])).toEqual([
    ['cancelled', 1],
    ['cancelled', 2],
  ])
  const { db } = world.store
  const calls = await db.selectFrom('tool_calls').select('status').where('tool', '=', 'look').execute()
  expect(calls.map(({ status }) => status)).toEqual(['skipped', 'skipped'])
  const [big] = await threadsOf(world)
  const cycles = await db
    .selectFrom('cycles')
    .select('status')
    .where('thread_id', '=', big?.id ?? '')
    .execute()
  expect(cycles).toEqual([{ status: 'stopped' }])
  const schedules = await db.selectFrom('schedules').select('status').execute()
  expect(new Set(schedules.map(({ status }) => status))).toEqual(new Set(['cancelled']))
  const sessions = await db.selectFrom('sessions').select(['thread_id', 'reason', 'messages']).execute()
  expect(sessions).toContainEqual({ thread_id: big?.id, reason: 'ended', messages: 7 })
  expect(await inboxOf(world, 'task')).toEqual([
    expect.objectContaining({ kind: 'notice' }),
    expect.objectContaining({ kind: 'notice' }),
  ])
})

test('a task that was cancelled while its process was dead is not gone on with', async () => {
  await using world = await openWithTask([say('begun')], { concurrency: 1 })
  const held = hold(say('too late'))
  world.model.script(held.turn)
  await world.post('go')
  await held.begun
  world.kill()
  const [task] = await threadsOf(world)
  await world.store.write(tx =>
    endTask(tx, task?.id ?? '', { status: 'cancelled', summary: 'x', now: 1, by: 'thr_homelab' }),
  )
  await world.start()
  await world.idle()
  expect(await threadsOf(world)).toMatchObject([{ status: 'cancelled', lease_owner: null }])
  const cycles = await world.store.db.selectFrom('cycles').select('status').orderBy('status').execute()
  expect(cycles).toEqual([{ status: 'done' }, { status: 'stopped' }])
})

test('what still comes for an ended task is put away and begins nothing', async () => {
  await using world = await openWithTask([say('ok')], { concurrency: 1 })
  world.model.script(say('fine'), say('thanks'))
  await world.post('go')
  await world.idle()
  const [task] = await threadsOf(world)
  const thread = task?.id ?? ''
  const payload = { kind: 'notice' as const, text: 'late' }
  await world.store.write(tx =>
    postItem(tx, { thread, source: 'test', externalId: '1', payload, power: 'routine', at: 0 }),
  )
  world.runtime.wake(thread)
  await world.idle()
  expect(await threadsWithWork(world.store.db)).toEqual([])
  expect((await threadsOf(world))[0]).toMatchObject({ status: 'complete', lease_owner: null })
  expect(world.model.requests.all).toHaveLength(4)
})

test('an open approval keeps a task, and a cancelled task closes it', async () => {
  await using world = await openWithTask([say('begun')], { concurrency: 1 })
  const ask: Turn = async (request, options) => {
    const [task] = await threadsOf(world)
    const row = { id: 'apr_1', call_id: 'call_1', thread_id: task?.id ?? '', cycle_id: 'x', agent: 'homelab' }
    const about = { tool: 'stop', arguments: '{}', arguments_hash: 'x', reason: 'x', status: 'open' as const }
    const times = { created_at: 0, expires_at: 9e15 }
    await world.store.write(tx =>
      tx
        .insertInto('approvals')
        .values({ ...row, ...about, ...times })
        .execute(),
    )
    return say('I asked.')(request, options)
  }
  world.model.script(ask)
  await world.post('go')
  await world.idle()
  const [task] = await threadsOf(world)
  expect(task).toMatchObject({ status: 'sleeping', ended_at: null })
  world.model.script(call([['cancel_task', { id: task?.id }]]), say('gone'))
  await world.post('cancel it')
  await world.idle()
  expect(await threadsOf(world)).toMatchObject([{ status: 'cancelled' }])
  const approvals = await world.store.db.selectFrom('approvals').select(['status', 'note']).execute()
  expect(approvals).toEqual([{ status: 'denied', note: 'The task has ended.' }])
})

test('an approval of a task is asked where the task was made, and closed for everyone with it', async () => {
  const { ran, tool } = stopTool()
  await using world = await openWorld({ tools: [tool], rules: { approve: ['stop'] }, concurrency: 1 })
  const turn = byThread(
    [call([['create_task', { instructions: 'stop it' }]]), say('begun')],
    [call([['stop', ARGUMENTS]]), say('asked')],
  )
  world.model.script(turn, turn, turn, turn)
  await world.start()
  await world.post('go', 'homelab/desk')
  await world.idle()
  const { id, status, conversation_id } = await onlyApproval(world)
  expect([status, conversation_id]).toEqual(['open', 'homelab/desk'])
  const [task] = await threadsOf(world)
  world.model.script(call([['cancel_task', { id: task?.id }]]), say('gone'))
  await world.post('cancel it', 'homelab/desk')
  await world.idle()
  expect(world.seen.approvals.all.at(-1)).toMatchObject({ id, status: 'denied', decidedBy: 'hub' })
  const calls = await world.store.db.selectFrom('tool_calls').select(['tool', 'status']).execute()
  expect(calls).toContainEqual({ tool: 'stop', status: 'denied' })
  expect(ran).toEqual([])
  const lines = world.seen.messages.all.filter(({ data }) => data?.['approval'] === id)
  expect(lines.map(({ conversation, data }) => [conversation, data?.['status']])).toEqual([
    ['homelab/desk', 'waiting'],
    ['homelab/desk', 'denied'],
  ])
  expect(lines[1]?.text).toBe(`Approval ${id} was closed, since the task has ended; it did not run.`)
})

test('what was approved and had not begun does not run once its task is over', async () => {
  const { ran, tool } = stopTool()
  await using world = await openWorld({ tools: [tool], rules: { approve: ['stop'] }, concurrency: 1 })
  const turn = byThread(
    [call([['create_task', { instructions: 'stop it' }]]), say('begun')],
    [call([['stop', ARGUMENTS]]), say('asked')],
  )
  world.model.script(turn, turn, turn, turn)
  await world.start()
  await world.post('go')
  await world.idle()
  const { id, thread_id, call_id } = await onlyApproval(world)
  await world.store.write(async tx => {
    await decideOpen(tx, id, {
      status: 'approved',
      at: world.clock.now(),
      by: 'ann',
      where: '/ws',
      note: null,
    })
    await allowCall(tx, call_id)
    await endTask(tx, thread_id, {
      status: 'cancelled',
      summary: 'x',
      now: world.clock.now(),
      by: 'thr_homelab',
    })
  })
  await world.approvals.begin()
  await until('the approval is answered', async () => (await onlyApproval(world)).answered_at !== null)
  expect(ran).toEqual([])
})

const chain = byThread(
  [call([['create_task', { instructions: 'Check.' }]]), say('begun'), say('told')],
  [call([['look']]), call([['complete_task', { summary: 'fine' }]])],
)

async function liveChain(world: World, death?: Death): Promise<void> {
  await world.start(death)
  const finished = world.post('go', 'homelab', 'client-1').then(() => world.idle())
  await Promise.race([finished, world.died])
}

async function openChain() {
  const world = await openWorld({ tools: [{ ...look, repeatable: true }], concurrency: 1 })
  world.model.script(...Array.from({ length: 40 }, () => chain))
  return world
}

async function checkChain(world: World): Promise<void> {
  expect(await threadsOf(world)).toMatchObject([{ status: 'complete', summary: 'fine' }])
  const posted = await inboxOf(world, 'task')
  expect(posted.map(({ kind }) => kind)).toEqual(['notice', 'task'])
  const rows = await world.store.db
    .selectFrom('messages')
    .selectAll()
    .where('kind', '=', 'agent')
    .orderBy('seq')
    .execute()
  expect(rows.map(({ text }) => text)).toEqual(['begun', 'told'])
  const cycles = await world.store.db.selectFrom('cycles').select('status').execute()
  expect(cycles.map(({ status }) => status)).toEqual(['done', 'done', 'done'])
  expect(await threadsWithWork(world.store.db)).toEqual([])
  const sessions = await world.store.db.selectFrom('sessions').selectAll().execute()
  expect(sessions).toMatchObject([{ reason: 'ended', summary: 'fine', number: 1, first_seq: 1 }])
}

test('promises 1 to 4: killed before or after any write, a task is made, ends and is told once', async () => {
  await using calm = await openChain()
  await liveChain(calm)
  await checkChain(calm)
  expect(calm.writes).toBeGreaterThan(12)
  for (let write = 1; write <= calm.writes; write++) {
    for (const when of ['before', 'after'] as const) {
      await using world = await openChain()
      await liveChain(world, { write, when })
      await liveChain(world)
      await checkChain(world)
    }
  }
})

test('promise 6: hundreds of tasks that were woken leave nothing in memory', async () => {
  const events = [{ type: 'temp_high', as: 'task' as const }]
  await using world = await openWorld({ agents: [{ events, limits: { tasks: 5_000 } }] })
  const rounds = 300
  const sleep = call([['schedule_wake', { delay: 'on_event', reason: 'x', wake_on_events: ['go_on'] }]])
  world.model.script(...Array.from({ length: rounds }, () => sleep))
  await world.start()
  v8.setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const before = process.memoryUsage().heapUsed
  world.semaphore.resize(0)
  const payload = { text: 'warm '.repeat(4_000) }
  for (let count = 0; count < rounds; count++)
    await world.router.postEvent({ ...event(String(count)), payload })
  world.semaphore.resize(8)
  await world.idle()
  expect(await world.store.db.selectFrom('cycles').select('id').execute()).toHaveLength(rounds)
  // The test drops its own records, which do not count as memory of the hub.
  for (const record of Object.values(world.seen)) record.all.length = 0
  world.model.requests.all.length = 0
  collect()
  expect([world.runtime.busy, world.clock.timers]).toEqual([0, 0])
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(2_400_000)
}, 120_000)
