import { expect, test } from 'vitest'
import { placesOf } from '../../tests/support/places-of.ts'
import { openWorld, type World } from '../../tests/support/runtime-world.ts'
import { call, hold, say } from '../../tests/support/scripted-model.ts'
import { deleteConversation } from './delete-conversation.ts'
import { searchHistory } from './search.ts'
import { endSession } from './sessions.ts'
import { createTask, endTask } from './tasks.ts'
import { moveWindow } from './threads.ts'

const SECRET = 'xylophone'

const remove = async (world: World, id: string) => {
  const deleted = await world.store.write(tx => deleteConversation(tx, id))
  await world.store.compact()
  return deleted
}

/** Moves everything out of the window, with a summary that tells of it. */
async function leaveWindow(world: World): Promise<void> {
  await world.store.write(async tx => {
    const thread = await tx.selectFrom('threads').selectAll().executeTakeFirstOrThrow()
    const part = {
      thread_id: thread.id,
      first_seq: thread.window_start,
      last_seq: thread.last_seq,
      ended_at: 9,
    }
    const summary = `Alex likes the ${SECRET}.`
    const stands = { tokens: 1, summary, summary_by: 'scripted', head: `[SUMMARY] ${summary}` }
    await endSession(tx, { ...part, ...stands, reason: 'compaction' })
    await moveWindow(tx, thread.id, thread.last_seq + 1)
  })
}

test('a deleted conversation is nowhere: not in messages, history, calls, index, summaries, nor anywhere else in the store', async () => {
  const look = { name: 'look', run: () => ({ text: `a ${SECRET} of brass`, isError: false }) }
  await using world = await openWorld({ tools: [look] })
  await world.start()
  for (let round = 0; round < 4; round++) {
    world.model.script(call([['look', { at: SECRET }]], `I look at the ${SECRET}.`), say(`A fine ${SECRET}.`))
    await world.post(`where is my ${SECRET}?`, 'homelab/private')
    await world.idle()
    if (round === 1) await leaveWindow(world)
  }
  world.model.script(say('The disks are fine.'))
  await world.post('how are the disks?', 'homelab')
  await world.idle()
  const found = (query: string) => searchHistory(world.store.db, { agent: 'homelab', query, limit: 5 })
  expect(await found(SECRET)).toHaveLength(2)
  expect(await placesOf(world.store, SECRET)).not.toEqual([])

  expect(await remove(world, 'homelab/private')).toEqual({
    messages: 12,
    inboxItems: 4,
    cycles: 4,
    historyRows: 16,
    summaries: 1,
    schedules: [],
  })
  expect(await found(SECRET)).toEqual([])
  expect(await placesOf(world.store, SECRET)).toEqual([])
  expect((await found('disks'))[0]?.snippets).toHaveLength(2)
  await expect(remove(world, 'homelab/private')).rejects.toMatchObject({ code: 'not_found' })

  // The agent still works and knows the rest, and its window has nothing of the deleted conversation.
  world.model.script(say('Still fine.'))
  const message = await world.post('and now?', 'homelab')
  await world.idle()
  expect(message.seq).toBe(3)
  const asked = JSON.stringify(world.model.requests.all.at(-1)?.messages)
  expect(asked).toContain('how are the disks?')
  expect(asked).not.toContain(SECRET)
})

test('of a batch with messages of two conversations the other one stays, and pairs stay complete', async () => {
  const look = { name: 'look', run: () => ({ text: 'brass', isError: false }) }
  await using world = await openWorld({ tools: [look], concurrency: 0 })
  await world.start()
  await world.post(`tell me of the ${SECRET}`, 'homelab/private')
  await world.post('how are the disks?', 'homelab')
  world.model.script(call([['look']]), say('Both are fine.'), say(`The ${SECRET} too.`))
  world.semaphore.resize(8)
  await world.idle()
  await remove(world, 'homelab/private')
  const rows = await world.store.db.selectFrom('history').select('content_json').execute()
  const contents = rows.map(row => JSON.parse(row.content_json))
  expect(contents).toMatchObject([{ role: 'user', items: [{ text: 'how are the disks?' }] }])
  expect(contents[0].text).toMatch(/^\[INBOX - 2 events\]\nA part of this was deleted/)
  expect(await placesOf(world.store, SECRET)).toEqual([])
})

test('while the agent works it is refused, and nothing is touched', async () => {
  await using world = await openWorld()
  await world.start()
  const held = hold(say('done'))
  world.model.script(held.turn)
  await world.post('work', 'homelab/private')
  await held.begun
  await expect(remove(world, 'homelab/private')).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('thr_homelab works now'),
  })
  held.release()
  await world.idle()
  expect(await remove(world, 'homelab/private')).toMatchObject({ messages: 2, cycles: 1 })
})

test('a schedule that was made in it goes on, and answers elsewhere', async () => {
  await using world = await openWorld()
  await world.start()
  world.model.script(call([['schedule_cron', { cron: '0 8 * * *', reason: 'report' }]]), say('ok'))
  await world.post('report daily', 'homelab/private')
  await world.idle()
  const { schedules } = await remove(world, 'homelab/private')
  const rows = await world.store.db
    .selectFrom('schedules')
    .select(['id', 'conversation_id', 'status'])
    .execute()
  expect(rows).toEqual([{ id: schedules[0], conversation_id: null, status: 'active' }])
})

test('of a task that the conversation made nothing is left, its result for its maker neither', async () => {
  await using world = await openWorld()
  await world.start()
  world.model.script(say('Here.'))
  await world.post('hello', 'homelab/private')
  await world.idle()
  await world.store.write(async tx => {
    const parent = { id: 'thr_homelab', depth: 0 }
    const task = {
      id: 'thr_homelab.task_1',
      agent: 'homelab',
      instructions: SECRET,
      wakesParent: false,
      now: 1,
    }
    const grants = { tools: [], limits: {}, hops: 0 }
    await createTask(tx, { ...task, parent, grants, conversation: 'homelab/private', power: 'person' })
    const result = { is: SECRET }
    await endTask(tx, task.id, { status: 'complete', summary: SECRET, result, now: 2, by: parent.id })
  })
  await remove(world, 'homelab/private')
  expect(await placesOf(world.store, SECRET)).toEqual([])
})
