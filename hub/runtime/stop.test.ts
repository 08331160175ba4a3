import { expect, test } from 'vitest'
import { openWorld, type World } from '../../tests/support/runtime-world.ts'
import { call, hold, refuse, say } from '../../tests/support/scripted-model.ts'
import { listAudit } from '../store/audit-log.ts'
import { requestStops } from '../store/stops.ts'

const look = { name: 'look', run: () => ({ text: 'seen', isError: false }) }
const NOTICE = 'I was stopped by alex. Write again to have me go on.'

const texts = (world: World) =>
  world.seen.messages.all.filter(({ kind }) => kind !== 'tool').map(({ kind, text }) => `${kind}: ${text}`)
const statuses = async (world: World) =>
  (
    await world.store.db
      .selectFrom('tool_calls')
      .select('status')
      .orderBy('step')
      .orderBy('position')
      .execute()
  ).map(({ status }) => status)
const cycles = (world: World) =>
  world.store.db.selectFrom('cycles').select(['status', 'stop_requested_by']).orderBy('id').execute()

/** Creates a tool that runs until it is released. */
function slowTool() {
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const run = async () => {
    begun.resolve()
    await gate.promise
    return { text: 'done at last', isError: false }
  }
  return { tool: { name: 'slow', run }, begun: begun.promise, release: () => gate.resolve() }
}

test('promise 9: a stop ends the call of the model at once and keeps what was streamed', async () => {
  await using world = await openWorld()
  const held = hold(say('never'))
  world.model.script((request, options) => {
    options.onText('I was about to')
    return held.turn(request, options)
  })
  await world.start()
  await world.post('go')
  await held.begun
  await world.post('/stop')
  await world.idle()
  expect(texts(world)).toEqual([
    'user: go',
    'user: /stop',
    'agent: I was about to\n\n(stopped here)',
    `notice: ${NOTICE}`,
  ])
  expect(await cycles(world)).toEqual([{ status: 'stopped', stop_requested_by: 'alex' }])
  const [row] = await listAudit(world.store.db, { kinds: ['stop'], limit: 2 })
  expect(row).toMatchObject({ actor: 'alex', outcome: 'ok' })
  expect(JSON.parse(row?.details_json ?? '')).toMatchObject({ cycles: [expect.stringMatching(/^cyc_/)] })
  world.model.script(say('on it'))
  await world.post('go on')
  await world.idle()
  expect(
    world.model.requests.all[1]?.messages.map(({ role, text }) => `${role}: ${text.slice(0, 60)}`),
  ).toEqual([
    expect.stringMatching(/^user/),
    'assistant: I was about to\n\n[alex stopped me here.]',
    expect.stringMatching(/^user/),
  ])
})

test('promise 9: a stop waits for the call that runs, and every call that it skips gets a result', async () => {
  const slow = slowTool()
  await using world = await openWorld({ tools: [look, slow.tool] })
  world.model.script(call([['look'], ['slow'], ['look'], ['store_context', { key: 'a', value: 'b' }]]))
  await world.start()
  await world.post('go')
  await slow.begun
  const { stopped } = await world.router.stop({ thread: 'thr_homelab' }, 'kim')
  expect(stopped).toMatchObject([{ thread: 'thr_homelab', replyTo: 'homelab' }])
  expect(world.runtime.busy).toBe(1)
  slow.release()
  await world.idle()
  expect(await statuses(world)).toEqual(['ok', 'ok', 'skipped', 'skipped'])
  expect(texts(world).at(-1)).toBe('notice: I was stopped by kim. Write again to have me go on.')
  world.model.script(say('ok'))
  await world.post('and?')
  await world.idle()
  const results = world.model.requests.all[1]?.messages.flatMap(each => (each.role === 'tool' ? [each] : []))
  expect(results?.map(({ text }) => text.slice(0, 12))).toEqual([
    'seen',
    'done at last',
    'Not run: the',
    'Not run: the',
  ])
  expect(await world.store.db.selectFrom('context').selectAll().execute()).toEqual([])
})

test('a stop between the tries of a provider that fails ends the waiting', async () => {
  await using world = await openWorld()
  world.model.script(refuse('server'))
  await world.start()
  await world.post('go')
  await world.clock.armed(1_500)
  await world.post('/stop')
  await world.idle()
  expect(texts(world).at(-1)).toBe(`notice: ${NOTICE}`)
  expect(world.clock.timers).toBe(0)
})

test('nothing to stop is said, and no agent reads the command', async () => {
  await using world = await openWorld()
  await world.start()
  await world.post('/stop')
  await world.post(' /stop ', 'homelab', 'same')
  await world.post(' /stop ', 'homelab', 'same')
  await world.idle()
  expect(texts(world)).toEqual([
    'user: /stop',
    'notice: Nothing is running; there is nothing to stop.',
    'user:  /stop ',
    'notice: Nothing is running; there is nothing to stop.',
  ])
  expect(await world.router.stop({ conversation: 'homelab' }, 'alex')).toEqual({ stopped: [], waiting: [] })
  await expect(world.router.stop({ thread: 'thr_none' }, 'alex')).rejects.toThrow(
    'There is no thread thr_none',
  )
  expect(await world.store.db.selectFrom('inbox').selectAll().execute()).toEqual([])
})

test('a stop from another conversation says there what it stops', async () => {
  await using world = await openWorld({ agents: [{ conversations: ['homelab', 'phone'] }] })
  const held = hold(say('never'))
  world.model.script(held.turn)
  await world.start()
  await world.post('go', 'phone')
  await held.begun
  await world.post('/stop', 'homelab')
  await world.idle()
  const notices = world.seen.messages.all.filter(({ kind }) => kind === 'notice')
  expect(notices.map(({ conversation, text }) => [conversation, text])).toEqual([
    ['homelab', 'Stopping what runs for phone.'],
    ['phone', NOTICE],
  ])
})

test('a stop also reaches what waits for its turn', async () => {
  await using world = await openWorld({ agents: [{ name: 'a' }, { name: 'b' }], concurrency: 1 })
  const held = hold(say('first'))
  world.model.script(held.turn)
  await world.start()
  await world.post('go', 'a')
  await held.begun
  await world.post('go', 'b')
  await world.post('/stop', 'b')
  held.release()
  await world.idle()
  expect(world.model.requests.all).toHaveLength(1)
  expect(texts(world).at(-1)).toBe(`notice: ${NOTICE}`)
})

test('what came while it was stopped begins a new cycle', async () => {
  await using world = await openWorld()
  const held = hold(say('never'))
  world.model.script(held.turn, say('the other thing'))
  await world.start()
  await world.post('one thing')
  await held.begun
  await world.post('no, another')
  await world.post('/stop')
  await world.idle()
  expect(texts(world).at(-1)).toBe('agent: the other thing')
})

test('promise 9: a stop survives a crash at any write after it', async () => {
  const run = async (death?: { write: number; when: 'before' | 'after' }) => {
    const slow = slowTool()
    await using world = await openWorld({ tools: [look, slow.tool] })
    world.model.script(call([['slow'], ['look']]), say('must never be asked'))
    await world.start()
    await world.post('go')
    await slow.begun
    const before = world.writes
    await world.post('/stop')
    if (death) {
      // The stop is on the disk; the process dies at the given one of the following writes.
      world.kill()
      await world.start({ write: death.write, when: death.when })
      await world.died
      await world.start()
    } else slow.release()
    await world.idle()
    return {
      writes: world.writes - before,
      left: world.model.left,
      statuses: await statuses(world),
      cycles: await cycles(world),
      notices: texts(world).filter(text => text === `notice: ${NOTICE}`).length,
      stored: await world.store.db
        .selectFrom('messages')
        .select('text')
        .where('kind', '=', 'notice')
        .execute(),
    }
  }
  expect(await run()).toMatchObject({ left: 1, statuses: ['ok', 'skipped'], notices: 1 })
  for (const write of [2, 3]) {
    for (const when of ['before', 'after'] as const) {
      const after = await run({ write, when })
      expect(after).toMatchObject({
        left: 1,
        statuses: ['unknown', 'skipped'],
        cycles: [{ status: 'stopped', stop_requested_by: 'alex' }],
        stored: [{ text: NOTICE }],
      })
    }
  }
})

test.each(['before', 'after'] as const)(
  'promise 9: a stop survives a crash %s the call of the model was cut',
  async when => {
    await using world = await openWorld()
    const held = hold(say('never'))
    world.model.script(held.turn, say('must never be asked'))
    await world.start()
    await world.post('go')
    await held.begun
    if (when === 'before') {
      // The process dies with the commit of the stop, so it never hears of it.
      world.kill()
      await world.store.write(tx => requestStops(tx, { threads: ['thr_homelab'] }, 'alex'))
    } else {
      await world.post('/stop')
      world.kill()
    }
    await world.start()
    await world.idle()
    expect(world.model.left).toBe(1)
    expect(await cycles(world)).toEqual([{ status: 'stopped', stop_requested_by: 'alex' }])
    const stored = await world.store.db
      .selectFrom('messages')
      .select('text')
      .where('kind', '=', 'notice')
      .execute()
    expect(stored).toEqual([{ text: NOTICE }])
  },
)

test('a correction sent mid-cycle is seen before the next step', async () => {
  const slow = slowTool()
  await using world = await openWorld({ tools: [slow.tool] })
  world.model.script(call([['slow']]), say('done'))
  await world.start()
  await world.post('stop the server')
  await slow.begun
  await world.post('no, the other one')
  slow.release()
  await world.idle()
  const last = world.model.requests.all[1]?.messages.at(-1)
  expect(last?.text).toMatch(/^\[MID-CYCLE UPDATE - 1 event\]/)
  expect(last?.text).toContain('no, the other one')
})
