import fc from 'fast-check'
import { expect, test } from 'vitest'
import { historyContent } from '../../schemas/inbox.ts'
import type { Death } from '../../tests/support/mortal.ts'
import { makeAgent, openWorld, type World } from '../../tests/support/runtime-world.ts'
import { call, hold, say, type Turn } from '../../tests/support/scripted-model.ts'
import { claimThread, moveWindow } from '../store/threads.ts'

/** The model's turn follows from the window alone: a step that is asked again gets the same answer. */
const policy: Turn = (request, options) => {
  const steps = request.messages.filter(message => message.role === 'assistant').length
  const cron = { cron: '0 8 * * *', reason: 'report' }
  const turns = [
    call([['read'], ['change'], ['schedule_cron', cron]], 'Let me see.'),
    call([['send_message', { to: 'phone', text: 'heads up' }]]),
    say('done'),
  ]
  return (turns[steps] ?? say('too many steps'))(request, options)
}

async function openCase() {
  const effects = { read: 0, change: 0 }
  const run = (name: keyof typeof effects) => () => ({ text: `${name} ${++effects[name]}`, isError: false })
  const world = await openWorld({
    agents: [{ conversations: ['homelab', 'phone'] }],
    tools: [
      { name: 'read', repeatable: true, run: run('read') },
      { name: 'change', run: run('change') },
    ],
  })
  world.model.script(...Array.from({ length: 60 }, () => policy))
  return { world, effects }
}

/** Runs the hub until it dies, or has nothing left to do. The client repeats what nobody accepted. */
async function live(world: World, death?: Death): Promise<void> {
  await world.start(death)
  const finished = world.post('please', 'homelab', 'client-1').then(() => world.idle())
  await Promise.race([finished, world.died])
}

const WRITES = 13

async function check(world: World, effects: { read: number; change: number }) {
  const { db } = world.store
  const messages = await db
    .selectFrom('messages')
    .selectAll()
    .orderBy('conversation_id')
    .orderBy('seq')
    .execute()
  const said = messages.filter(({ kind }) => kind !== 'tool').map(({ kind, text }) => `${kind}: ${text}`)
  expect(said).toEqual(['user: please', 'agent: done', 'agent: heads up'])
  for (const place of ['homelab', 'phone']) {
    const seqs = messages.filter(({ conversation_id: id }) => id === place).map(({ seq }) => seq)
    expect(seqs).toEqual(seqs.map((_seq, index) => index + 1))
  }
  const rows = await db.selectFrom('history').selectAll().orderBy('seq').execute()
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_row, index) => index + 1))
  const history = rows.map(row => historyContent.parse(JSON.parse(row.content_json)))
  expect(history.map(({ role }) => role).join(' ')).toBe(
    'user assistant tool tool tool assistant tool assistant',
  )
  expect(await db.selectFrom('schedules').select('reason').execute()).toEqual([{ reason: 'report' }])
  expect(await db.selectFrom('cycles').select('status').execute()).toEqual([{ status: 'done' }])
  const calls = await db.selectFrom('tool_calls').selectAll().orderBy('step').orderBy('position').execute()
  const change = calls[1]
  expect(calls.map(({ status }) => status)).toEqual(['ok', change?.status, 'ok', 'ok'])
  expect(effects.change).toBeLessThanOrEqual(1)
  if (change?.status === 'ok') expect(effects.change).toBe(1)
  else {
    expect(change?.status).toBe('unknown')
    const told = history.find(content => content.role === 'tool' && content.name === 'change')
    expect(told?.text).toMatch(/^Outcome unknown/)
  }
  return change?.status
}

const deaths = Array.from({ length: WRITES }, (_, index) => index + 1).flatMap(write => [
  { write, when: 'before' as const },
  { write, when: 'after' as const },
])

test.for(deaths)('promises 1 to 4: killed $when write $write, all is done once', async death => {
  const { world, effects } = await openCase()
  await using _ = world
  await live(world, death)
  await live(world)
  const status = await check(world, effects)
  // Write 6 says that the call begins, write 7 says its outcome: after a death between them it is unknown.
  const between =
    (death.write === 6 && death.when === 'after') || (death.write === 7 && death.when === 'before')
  expect(status).toBe(between ? 'unknown' : 'ok')
})

test('every one of these deaths happens within the cycle', async () => {
  const { world, effects } = await openCase()
  await using _ = world
  await live(world)
  await check(world, effects)
  expect(world.writes).toBe(WRITES)
  expect(effects).toEqual({ read: 1, change: 1 })
})

test('promises 1 to 4: killed again and again, all is done once', async () => {
  const death = fc.record({
    write: fc.integer({ min: 1, max: WRITES }),
    when: fc.constantFrom('before' as const, 'after' as const),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(death, { minLength: 2, maxLength: 2 }), async several => {
      const { world, effects } = await openCase()
      await using _ = world
      for (const each of several) await live(world, each)
      await live(world)
      await check(world, effects)
    }),
    { numRuns: 20 },
  )
})

test('promise 1: what waited beside the cycle that was cut is taken after it, without another wake', async () => {
  await using world = await openWorld()
  const held = hold(say('never'))
  world.model.script(held.turn)
  await world.start()
  await world.post('first')
  await held.begun
  await world.post('second')
  world.kill()
  world.model.script(say('to the first'), say('to the second'))
  await world.start()
  await world.idle()
  const texts = world.seen.messages.all.filter(({ kind }) => kind === 'agent').map(({ text }) => text)
  expect(texts).toEqual(['to the first', 'to the second'])
})

test('what waits for an agent that is gone stays, and is taken when it is back', async () => {
  await using world = await openWorld()
  await world.start()
  world.semaphore.resize(0)
  await world.post('hi')
  world.agents.clear()
  world.semaphore.resize(8)
  await world.idle()
  expect(world.seen.ended.all).toEqual([])
  world.agents.set('homelab', makeAgent())
  world.model.script(say('back'))
  await world.runtime.wakeAll()
  await world.idle()
  expect(world.seen.messages.all.at(-1)?.text).toBe('back')
})

test('promise 3: a call that was cut is unknown even when its tool is gone by now', async () => {
  const { world, effects } = await openCase()
  await using _ = world
  await live(world, { write: 7, when: 'before' })
  world.tools.clear()
  await live(world)
  expect(await check(world, effects)).toBe('unknown')
})

test('promise 4: the time for which the hub was down is not charged to the cycle', async () => {
  const { world, effects } = await openCase()
  await using _ = world
  await live(world, { write: 3, when: 'after' })
  world.clock.jump(24 * 3_600_000)
  await live(world)
  await check(world, effects)
})

test('promise 5: once another owner has claimed the thread, nothing of the first one is written', async () => {
  await using world = await openWorld()
  const held = hold(say('too late'))
  world.model.script(held.turn)
  await world.start()
  await world.post('hi')
  await held.begun
  const until = world.clock.now() + 21 * 60_000
  const claim = { id: 'thr_homelab', owner: 'other', until: until + 1, now: until }
  expect(await world.store.write(tx => claimThread(tx, { ...claim, now: world.clock.now() }))).toBeUndefined()
  expect((await world.store.write(tx => claimThread(tx, claim)))?.fence).toBe(2)
  const before = await world.store.db.selectFrom('history').selectAll().execute()
  held.release()
  await world.idle()
  expect(await world.store.db.selectFrom('history').selectAll().execute()).toEqual(before)
  expect(world.seen.messages.all.map(({ text }) => text)).toEqual(['hi'])
  const thread = await world.store.db.selectFrom('threads').selectAll().executeTakeFirstOrThrow()
  expect(thread).toMatchObject({ lease_owner: 'other', fence: 2, status: 'active' })
})

test('promise 5: every write of a cycle carries the fence', async () => {
  for (let write = 2; write <= 12; write++) {
    const { world } = await openCase()
    await using _ = world
    // Another process takes the thread between two writes of the cycle.
    await world.start({ write, when: 'after' })
    const posted = world.post('please', 'homelab', 'client-1').then(() => world.idle())
    await Promise.race([posted, world.died])
    const claim = { id: 'thr_homelab', owner: 'other', until: 2 ** 52, now: 2 ** 51 }
    await world.store.write(tx => claimThread(tx, claim))
    const before = await snapshot(world)
    world.revive()
    await world.idle()
    expect(await snapshot(world)).toEqual(before)
  }
})

async function snapshot({ store: { db } }: World) {
  return {
    history: await db.selectFrom('history').selectAll().execute(),
    cycles: await db.selectFrom('cycles').selectAll().execute(),
    threads: await db.selectFrom('threads').selectAll().execute(),
    messages: await db.selectFrom('messages').selectAll().execute(),
    calls: await db.selectFrom('tool_calls').select(['id', 'status']).execute(),
  }
}

test('promise 8: stored context is told whole where the window begins anew, and only there', async () => {
  await using world = await openWorld()
  const store = call([['store_context', { key: 'wish', value: 'never stop ATM-10' }]])
  world.model.script(store, say('noted'), say('a'), say('b'), say('c'))
  await world.start()
  const ask = async (text: string) => {
    await world.post(text)
    await world.idle()
    const message = world.model.requests.all.at(-1)?.messages.findLast(({ role }) => role === 'user')
    return message?.text ?? ''
  }
  expect(await ask('remember')).toContain('Stored context: none.')
  expect(await ask('again')).not.toContain('Stored context')
  const { last_seq: last } = await world.store.db.selectFrom('threads').selectAll().executeTakeFirstOrThrow()
  await world.store.write(tx => moveWindow(tx, 'thr_homelab', last + 1))
  expect(await ask('and now')).toContain('Stored context:\n- wish: never stop ATM-10')
  expect(await ask('and then')).not.toContain('Stored context')
})
