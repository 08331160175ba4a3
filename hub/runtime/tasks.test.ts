import { expect, test } from 'vitest'
import { openWorld, type World } from '../../tests/support/runtime-world.ts'
import { call, refuse, say } from '../../tests/support/scripted-model.ts'
import { event, look, openWithTask, textsOf, threadsOf } from '../../tests/support/task-world.ts'

const said = (world: World) =>
  world.seen.messages.all
    .filter(({ kind }) => kind !== 'user' && kind !== 'tool')
    .map(({ conversation, kind, text }) => [conversation, kind, text])

test('a task works on its own, and its summary wakes the parent in the conversation that asked', async () => {
  await using world = await openWithTask([say('I have it looked at.')], { concurrency: 1 })
  world.model.script(call([['look']]), say('All four disks are fine.'), say('The disks are fine.'))
  await world.post('check the disks', 'homelab/phone')
  await world.idle()
  expect(said(world)).toEqual([
    ['homelab/phone', 'agent', 'I have it looked at.'],
    ['homelab/phone', 'agent', 'The disks are fine.'],
  ])
  const [task] = await threadsOf(world)
  expect(task).toMatchObject({
    id: expect.stringMatching(/^thr_homelab\.task_/),
    agent: 'homelab',
    status: 'complete',
    parent_id: 'thr_homelab',
    depth: 1,
    summary: 'All four disks are fine.',
  })
  const [, , first] = world.model.requests.all
  expect(first?.system).toContain('Check the disks.')
  expect(first?.messages).toHaveLength(1)
  expect(textsOf(world)[4]).toContain(`Task ${task?.id} is complete: Check the disks.`)
  expect(textsOf(world)[4]).toContain('All four disks are fine.')
})

test('a task lacks what its maker did not name, and has what it did', async () => {
  await using world = await openWorld({ tools: [look, { ...look, name: 'stop_it' }], concurrency: 1 })
  world.model.script(
    call([
      ['create_task', { instructions: 'plain' }],
      [
        'create_task',
        { instructions: 'less', tools: ['lo*', 'send_message', 'store_context', '!get_context'] },
      ],
    ]),
    say('ok'),
  )
  for (let times = 0; times < 2; times++)
    world.model.script(
      call([
        ['store_context', { key: 'a', value: String(times), scope: 'agent' }],
        ['store_context', { key: 'own', value: 'x' }],
      ]),
      say('done'),
    )
  world.model.script(say(''), say(''))
  await world.start()
  await world.store.write(async tx => {
    await tx
      .insertInto('context')
      .values({ scope: 'agent', owner: 'homelab', key: 'wish', value: 'quiet', updated_at: 0 })
      .execute()
  })
  await world.post('go')
  await world.idle()
  const of = (instructions: string) =>
    world.model.requests.all.filter(({ system }) => system.includes(`The task:\n${instructions}`))
  const names = (instructions: string) => of(instructions)[0]?.tools.map(({ name }) => name) ?? []
  for (const withheld of ['create_task', 'schedule_cron', 'send_message'])
    expect(names('plain')).not.toContain(withheld)
  expect(names('plain')).toEqual(
    expect.arrayContaining(['schedule_wake', 'complete_task', 'look', 'stop_it']),
  )
  expect(names('less')).toEqual(expect.arrayContaining(['send_message', 'store_context', 'look']))
  for (const gone of ['stop_it', 'get_context', 'create_task']) expect(names('less')).not.toContain(gone)
  expect(of('plain')[0]?.messages[0]?.text).toContain('wish: quiet')
  const facts = await world.store.db.selectFrom('context').selectAll().orderBy('key').execute()
  const [plain, less] = (await threadsOf(world)).map(({ id }) => id)
  expect(facts.map(({ scope, owner, key, value }) => [scope, owner, key, value])).toEqual(
    expect.arrayContaining([
      ['agent', 'homelab', 'a', '1'],
      ['thread', plain, 'own', 'x'],
      ['thread', less, 'own', 'x'],
    ]),
  )
})

test('complete_task ends a task at once, with its schedules; without it a pending wake keeps it', async () => {
  await using world = await openWithTask([say('ok')], { concurrency: 1 })
  world.model.script(call([['schedule_wake', { delay: '10m', reason: 'again' }]]))
  await world.post('go')
  await world.idle()
  expect((await threadsOf(world)).map(({ status }) => status)).toEqual(['sleeping'])
  world.model.script(
    call([['store_context', { key: 'k', value: 'v' }]]),
    call([['complete_task', { summary: 'It cooled down.' }]], 'not told to anybody'),
    say(''),
  )
  world.clock.advance(600_000)
  await world.router.fireDue()
  await world.idle()
  expect(await threadsOf(world)).toMatchObject([{ status: 'complete', summary: 'It cooled down.' }])
  expect(said(world)).toEqual([['homelab', 'agent', 'ok']])
  expect(textsOf(world).at(-1)).toContain('It cooled down.')
  expect((await world.store.db.selectFrom('schedules').select('status').execute())[0]?.status).toBe('done')
})

test('a task whose cycle fails is failed, and its parent is told why', async () => {
  await using world = await openWithTask([say('ok')], { concurrency: 1 })
  world.model.script(refuse('auth'), say('It could not be done.'))
  await world.post('go')
  await world.idle()
  expect(await threadsOf(world)).toMatchObject([
    { status: 'failed', summary: expect.stringContaining('The provider says auth.') },
  ])
  expect(textsOf(world).at(-1)).toContain('is failed: Check the disks.')
})

test('an event that is listed as a task makes one; its summary waits for the next inbox', async () => {
  const events = [{ type: 'temp_high', as: 'task' as const }]
  await using world = await openWorld({ agents: [{ events }], concurrency: 1 })
  await world.start()
  world.model.script(say('It was the dust.'))
  const routed = await world.router.postEvent(event('1'))
  await world.idle()
  const [task] = await threadsOf(world)
  expect(routed?.routedTo).toEqual([task?.id])
  expect(task).toMatchObject({ status: 'complete', summary: 'It was the dust.', parent_id: 'thr_homelab' })
  expect(textsOf(world)).toEqual([expect.stringContaining('temp_high {"temp":91}')])
  expect(textsOf(world)[0]).toMatch(/^\[INBOX - 1 event\]/)
  await world.runtime.wakeAll()
  world.runtime.wake('thr_homelab')
  await world.idle()
  expect(world.model.requests.all).toHaveLength(1)
  world.model.script(say('hello'))
  await world.post('hi')
  await world.idle()
  expect(textsOf(world)[1]).toContain('It was the dust.')
  expect(textsOf(world)[1]).toMatch(/^\[INBOX - 2 events\]/)
})

test('an event’s task wakes by its own schedule and by what it waits for, in its own thread', async () => {
  const events = [{ type: 'temp_high', as: 'task' as const }, 'server_empty']
  await using world = await openWorld({ agents: [{ events }], concurrency: 1 })
  await world.start()
  const wait = { delay: '10m', reason: 'cooler?', wake_on_events: ['server_empty'] }
  world.model.script(call([['schedule_wake', wait]]), call([['complete_task', { summary: 'ok' }]]))
  await world.router.postEvent(event('1'))
  await world.idle()
  const [task] = await threadsOf(world)
  const routed = await world.router.postEvent(event('2', 'server_empty'))
  await world.idle()
  expect(routed?.routedTo).toEqual([task?.id])
  expect(textsOf(world)[1]).toContain('Woken early by the event server_empty')
  expect(await threadsOf(world)).toMatchObject([{ status: 'complete' }])
  expect(said(world)).toEqual([])
})

test('over the limit of tasks create_task says so, and an event goes to the main thread', async () => {
  const events = [{ type: 'temp_high', as: 'task' as const }]
  await using world = await openWorld({ agents: [{ events, limits: { tasks: 1 } }], concurrency: 1 })
  await world.start()
  const wake = call([['schedule_wake', { delay: '10m', reason: 'later' }]])
  world.model.script(wake, call([['create_task', { instructions: 'more' }]]), say(''))
  await world.router.postEvent(event('1'))
  await world.idle()
  const second = await world.router.postEvent(event('2'))
  await world.idle()
  expect(second?.routedTo).toEqual(['thr_homelab'])
  const result = world.model.requests.all[2]?.messages.findLast(({ role }) => role === 'tool')
  expect(result?.text).toContain('1 task at once is the limit (limits.tasks in agents/homelab.md)')
  expect(textsOf(world)[1]).toMatch(/Running tasks:\n- thr_homelab\.task_\S+, for .*temp_high/)
})

test('promise 9: tasks of tasks go three deep', async () => {
  await using world = await openWorld({ concurrency: 1 })
  await world.start()
  const deeper = call([['create_task', { instructions: 'deeper', tools: ['*', 'create_task'] }]])
  for (let depth = 0; depth < 4; depth++) world.model.script(deeper, say('waits'))
  for (let depth = 0; depth < 3; depth++) world.model.script(say('done'))
  await world.post('dig')
  await world.idle()
  const tasks = await threadsOf(world)
  expect(tasks.map(({ depth, status }) => [depth, status])).toEqual([
    [1, 'complete'],
    [2, 'complete'],
    [3, 'complete'],
  ])
  const last = world.model.requests.all[7]?.messages.findLast(({ role }) => role === 'tool')
  expect(last?.text).toContain('Tasks go 3 deep')
})

test('list_tasks shows one’s own tasks, running ones first; only those can be cancelled', async () => {
  await using world = await openWithTask([say('ok')], {
    agents: [{}, { name: 'zoe' }],
    concurrency: 1,
  })
  world.model.script(say('Fine.'), say('ok'))
  await world.post('go')
  await world.idle()
  const [ended] = await threadsOf(world)
  world.model.script(
    call([['create_task', { instructions: 'Wait.', tools: ['create_task'] }]]),
    call([['list_tasks'], ['cancel_task', { id: ended?.id }], ['cancel_task', { id: 'thr_homelab' }]]),
    say('ok'),
    call([
      ['list_tasks'],
      ['cancel_task', { id: ended?.id }],
      ['schedule_wake', { delay: '1h', reason: 'x' }],
    ]),
  )
  await world.post('more')
  await world.idle()
  const waiting = (await threadsOf(world)).find(({ status }) => status === 'sleeping')
  world.model.script(call([['list_tasks'], ['cancel_task', { id: waiting?.id }]]), say('ok'))
  await world.post('and you?', 'zoe')
  await world.idle()
  const results = await world.store.db
    .selectFrom('tool_calls')
    .select('result_json')
    .where('tool', 'in', ['list_tasks', 'cancel_task'])
    .orderBy('created_at')
    .orderBy('cycle_id')
    .orderBy('position')
    .execute()
  const texts = results.map(row => JSON.parse(row.result_json ?? '{}').text as string)
  const none = (id?: string) => `There is no task ${id} of yours; list_tasks shows them.`
  expect(texts.sort()).toEqual(
    [
      `${waiting?.id} (sleeping): Wait.\n${ended?.id} (complete): Check the disks.\n  Fine.`,
      `The task ${ended?.id} has ended: complete.`,
      none('thr_homelab'),
      'No tasks.',
      none(ended?.id),
      'No tasks.',
      none(waiting?.id),
    ].sort(),
  )
})
