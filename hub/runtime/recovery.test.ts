import { expect, test } from 'vitest'
import { openLetters, said, statuses, told } from '../../tests/support/failing-world.ts'
import { openWorld } from '../../tests/support/runtime-world.ts'
import { call, hold, say, type Turn } from '../../tests/support/scripted-model.ts'
import { postItem } from '../store/inbox.ts'
import { ensureMainThread } from '../store/threads.ts'

const MINUTE = 60_000

test('promise 4: the third crash without a step between is a dead letter', async () => {
  await using world = await openWorld()
  for (let crash = 1; crash <= 3; crash++) {
    const held = hold(say('never'))
    world.model.script(held.turn)
    await world.start()
    if (crash === 1) await world.post('deadly')
    await held.begun
    world.kill()
  }
  await world.start()
  await world.idle()
  expect(world.model.requests.all).toHaveLength(3)
  expect((await openLetters(world))[0]).toMatchObject({
    error: { code: 'crashed' },
    items: [{ text: 'deadly' }],
  })
  expect(told(world)).toHaveLength(1)
})

/** Opens three agents that each were in a cycle at two crashes of the hub in a row. */
async function openSuspects() {
  const names = ['anna', 'bert', 'cleo']
  const look = { name: 'look', run: () => ({ text: 'seen', isError: false }) }
  const world = await openWorld({ agents: names.map(name => ({ name })), tools: [look] })
  for (let crash = 1; crash <= 2; crash++) {
    const held = names.map(() => hold(say('never')))
    world.model.script(...held.map(({ turn }) => turn))
    await world.start()
    if (crash === 1) for (const name of names) await world.post(`for ${name}`, name)
    await Promise.all(held.map(({ begun }) => begun))
    world.kill()
  }
  return world
}

test('promise 4: a suspect runs alone, and a crash is blamed on nobody else', async () => {
  await using world = await openSuspects()
  const alone = hold(say('never'))
  world.model.script(alone.turn)
  await world.start()
  await alone.begun
  for (let round = 0; round < 20; round++) await new Promise(resolve => setImmediate(resolve))
  expect(world.model.requests.all).toHaveLength(7)
  world.kill()
  world.model.script(say('made it'), say('made it'))
  await world.start()
  await world.idle()
  expect((await openLetters(world)).map(({ error }) => error?.code)).toEqual(['crashed'])
  expect(said(world)).toEqual(['made it', 'made it'])
  expect((await statuses(world)).toSorted()).toEqual(['dead', 'done', 'done'])
})

test('promise 4: a suspect runs alone only until its next step', async () => {
  await using world = await openSuspects()
  const first = hold(call([['look']]))
  const rest = hold(say('later'))
  world.model.script(first.turn, rest.turn)
  await world.start()
  await first.begun
  first.release()
  await rest.begun
  // The next suspect waits until it can be alone.
  expect(world.model.requests.all).toHaveLength(8)
  world.model.script(say('two'), say('three'))
  rest.release()
  await world.idle()
  expect(said(world)).toEqual(['later', 'two', 'three'])
  expect(await openLetters(world)).toEqual([])
})

test('promise 4: others go on beside a suspect that committed a step', async () => {
  await using world = await openWorld({
    agents: [{ name: 'anna' }, { name: 'bert' }],
    tools: [{ name: 'look', run: () => ({ text: 'seen', isError: false }) }],
  })
  for (let crash = 1; crash <= 2; crash++) {
    const held = hold(say('never'))
    world.model.script(held.turn)
    await world.start()
    if (crash === 1) await world.post('deadly?', 'anna')
    await held.begun
    world.kill()
  }
  const first = hold(call([['look']]))
  const rest = hold(say('anna is done'))
  world.model.script(first.turn)
  await world.start()
  await first.begun
  await world.post('hello', 'bert')
  for (let round = 0; round < 20; round++) await new Promise(resolve => setImmediate(resolve))
  expect(world.model.requests.all).toHaveLength(3)
  const next: Turn = (request, options) => {
    const isAnna = request.messages.some(message => message.role === 'assistant')
    return (isAnna ? rest.turn : say('bert is done'))(request, options)
  }
  world.model.script(next, next)
  first.release()
  await rest.begun
  await world.seen.messages.find('bert answers', ({ text }) => text === 'bert is done')
  rest.release()
  await world.idle()
  expect(await openLetters(world)).toEqual([])
})

test('promise 4: a committed step and a stop in order count as no crash', async () => {
  const look = { name: 'look', run: () => ({ text: 'seen', isError: false }) }
  await using world = await openWorld({ tools: [look] })
  for (let life = 1; life <= 6; life++) {
    const held = hold(say('never'))
    world.model.script(...(life === 3 ? [call([['look']])] : []), held.turn)
    await world.start()
    if (life === 1) await world.post('hi')
    await held.begun
    if (life % 2 === 0) await world.runtime[Symbol.asyncDispose]()
    else if (life < 6) world.kill()
  }
  world.model.script(say('made it'))
  await world.start()
  await world.idle()
  expect(said(world)).toEqual(['made it'])
  expect(await openLetters(world)).toEqual([])
})

test('promise 3: a stop in order that comes with the start of a call leaves it to the next life', async () => {
  let ran = 0
  let ended: Promise<void> | undefined
  await using world = await openWorld({
    tools: [
      {
        name: 'change',
        // The getter runs when the call is looked up, right before its start is written.
        get destructive() {
          ended ??= Promise.resolve(world.runtime[Symbol.asyncDispose]())
          return false
        },
        run(_args, { signal }) {
          signal.throwIfAborted()
          return { text: `${++ran}`, isError: false }
        },
      },
    ],
  })
  world.model.script(call([['change']]), say('done'))
  await world.start()
  await world.post('go')
  await world.idle()
  await ended
  const ledger = () => world.store.db.selectFrom('tool_calls').select(['status', 'started_at']).execute()
  expect(await ledger()).toEqual([{ status: 'planned', started_at: null }])
  await world.start()
  await world.idle()
  expect([ran, ...said(world)]).toEqual([1, 'done'])
  expect(await ledger()).toMatchObject([{ status: 'ok' }])
})

test('promise 9: a cycle that takes no notice of its end is stopped five minutes later, and can do no more', async () => {
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const deaf = {
    name: 'deaf',
    async run() {
      begun.resolve()
      await gate.promise
      return { text: 'too late', isError: false }
    },
  }
  await using world = await openWorld({ agents: [{ limits: { steps: 30, minutes: 1 } }], tools: [deaf] })
  world.model.script(call([['deaf']]), say('new'))
  await world.start()
  await world.post('go')
  await begun.promise
  expect(await world.nextDue()).toBe(world.clock.now() + 6 * MINUTE)
  world.clock.advance(6 * MINUTE)
  await world.fireDue()
  await world.idle()
  expect(told(world).map(({ text }) => text)).toEqual([
    expect.stringMatching(/^I made no step for 5 minutes/),
  ])
  gate.resolve()
  await world.post('next')
  await world.idle()
  expect(said(world)).toEqual(['new'])
  const ledger = await world.store.db.selectFrom('tool_calls').select('status').execute()
  expect(ledger).toEqual([{ status: 'unknown' }])
})

test('a cycle that takes no notice and whose end cannot be written is ended once it can be', async () => {
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const deaf = {
    name: 'deaf',
    async run() {
      begun.resolve()
      await gate.promise
      return { text: 'too late', isError: false }
    },
  }
  await using world = await openWorld({ agents: [{ limits: { steps: 30, minutes: 1 } }], tools: [deaf] })
  world.model.script(call([['deaf']]))
  await world.start()
  await world.post('go')
  await begun.promise
  world.clock.advance(6 * MINUTE)
  await world.store.db.schema.alterTable('messages').renameTo('away').execute()
  await expect(world.fireDue()).rejects.toThrow('messages')
  await world.store.db.schema.alterTable('away').renameTo('messages').execute()
  await world.fireDue()
  await world.idle()
  expect(await statuses(world)).toEqual(['failed'])
  expect(world.seen.ended.all).toHaveLength(1)
  gate.resolve()
})

test("promise 5: another process's cycle is left to it until its lease has run out", async () => {
  await using world = await openWorld()
  const held = hold(say('never'))
  world.model.script(held.turn)
  await world.start()
  await world.post('hi')
  await held.begun
  world.kill()
  const agents = [...world.agents.values()]
  world.agents.clear()
  await world.start()
  await world.idle()
  for (const agent of agents) world.agents.set(agent.name, agent)
  const until = world.clock.now() + 20 * MINUTE
  const lease = { lease_owner: 'another', lease_until: until }
  await world.store.write(tx => tx.updateTable('threads').set(lease).execute())
  await world.runtime.wakeAll()
  await world.idle()
  expect(world.model.requests.all).toHaveLength(1)
  world.model.script(say('taken over'))
  world.clock.advance(20 * MINUTE + 1)
  await world.runtime.wakeAll()
  await world.idle()
  expect(said(world)).toEqual(['taken over'])
})

test('a claim that fails is tried again', async () => {
  await using world = await openWorld()
  await world.start()
  world.model.script(say('here'))
  const name = 'cycles'
  await world.store.db.schema.alterTable(name).renameTo('away').execute()
  await world.store.write(async tx => {
    const at = world.clock.now()
    const thread = 'thr_homelab'
    await ensureMainThread(tx, 'homelab', at)
    const payload = { kind: 'notice' as const, text: 'n' }
    await postItem(tx, { thread, source: 'x', externalId: '1', payload, power: 'routine', at })
  })
  world.runtime.wake('thr_homelab')
  await world.seen.log.find('it broke', entry => entry['event'] === 'thread_broke')
  await world.store.db.schema.alterTable('away').renameTo(name).execute()
  await world.clock.armed(10_000)
  world.clock.advance(10_000)
  await world.seen.ended.find('the cycle ends', () => true)
  expect(world.model.requests.all).toHaveLength(1)
})
