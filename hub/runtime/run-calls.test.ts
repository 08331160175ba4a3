import { expect, test } from 'vitest'
import { callStatuses, OWNER, onlyApproval, stopTool, untilSaid } from '../../tests/support/approvals.ts'
import { openWorld, type StubTool, type World } from '../../tests/support/runtime-world.ts'
import { call, say } from '../../tests/support/scripted-model.ts'
import { createRecord, until } from '../../tests/support/until.ts'

/** Creates a tool whose calls end when the test releases them, by their argument `id`. */
function heldTool(name: string, options: Partial<StubTool> = {}) {
  const begun = createRecord<string>()
  const gates = new Map<string, PromiseWithResolvers<void>>()
  const gate = (id: string) => {
    const known = gates.get(id) ?? Promise.withResolvers<void>()
    gates.set(id, known)
    return known
  }
  const tool: StubTool = {
    name,
    async run({ id }, { signal }) {
      begun.add(String(id))
      const cut = Promise.withResolvers<never>()
      signal.addEventListener('abort', () => cut.reject(signal.reason))
      await Promise.race([gate(String(id)).promise, cut.promise])
      return { text: `${name} ${id}`, isError: false }
    },
    ...options,
  }
  return {
    tool,
    begun,
    begins: (id: string) => begun.find(`${name} ${id} begins`, one => one === id),
    release: (id: string) => gate(id).resolve(),
  }
}

function results(world: World, request: number) {
  const messages = world.model.requests.all[request]?.messages ?? []
  return messages.flatMap(each => (each.role === 'tool' ? [each.text] : []))
}

test('neighbours that only read run at the same time, their results stay in order, and a write waits', async () => {
  const look = heldTool('look', { reads: true })
  const change = heldTool('change')
  await using world = await openWorld({ tools: [look.tool, change.tool] })
  const asked = ['a', 'b', 'c'].map(id => ['look', { id }] as const)
  world.model.script(call([...asked, ['change', { id: 'd' }], ['look', { id: 'e' }]]), say('done'))
  await world.start()
  await world.post('go')
  for (const id of ['a', 'b', 'c']) await look.begins(id)
  const started = await world.store.db.selectFrom('tool_calls').select('status').orderBy('position').execute()
  expect(started.map(({ status }) => status)).toEqual(['started', 'started', 'started', 'planned', 'planned'])
  for (const id of ['c', 'b']) look.release(id)
  await world.seen.messages.find('the last of them ended', ({ text }) => text === 'look b')
  expect(change.begun.all).toEqual([])
  look.release('a')
  await change.begins('d')
  expect(look.begun.all).toEqual(['a', 'b', 'c'])
  change.release('d')
  look.release('e')
  await world.idle()
  expect(results(world, 1)).toEqual(['look a', 'look b', 'look c', 'change d', 'look e'])
})

test('calls that change something run one by one', async () => {
  const change = heldTool('change', { repeatable: true })
  await using world = await openWorld({ tools: [change.tool] })
  world.model.script(
    call([
      ['change', { id: 'a' }],
      ['change', { id: 'b' }],
    ]),
    say('done'),
  )
  await world.start()
  await world.post('go')
  await change.begins('a')
  expect(await callStatuses(world)).toEqual(['started', 'planned'])
  change.release('a')
  await change.begins('b')
  change.release('b')
  await world.idle()
  expect(results(world, 1)).toEqual(['change a', 'change b'])
})

test('promise 4: parallel reads that a crash cut run again, and those that ended do not', async () => {
  const look = heldTool('look', { reads: true })
  await using world = await openWorld({ tools: [look.tool] })
  world.model.script(call(['a', 'b', 'c'].map(id => ['look', { id }] as const)), say('done'))
  await world.start()
  await world.post('go')
  for (const id of ['a', 'b', 'c']) await look.begins(id)
  look.release('b')
  await world.seen.messages.find('b ended', ({ text }) => text === 'look b')
  world.kill()
  for (const id of ['a', 'c']) look.release(id)
  await world.start()
  await untilSaid(world, 'done')
  expect(look.begun.all).toEqual(['a', 'b', 'c', 'a', 'c'])
  expect(results(world, 1)).toEqual(['look a', 'look b', 'look c'])
})

test('promise 3: when the minutes cut parallel reads, what ended is kept and nothing is written afterwards', async () => {
  const look = heldTool('look', { reads: true })
  const stubborn = Promise.withResolvers<void>()
  const deaf: StubTool = {
    name: 'deaf',
    reads: true,
    async run() {
      await stubborn.promise
      return { text: 'late', isError: false }
    },
  }
  await using world = await openWorld({
    agents: [{ limits: { steps: 30, minutes: 1 } }],
    tools: [look.tool, deaf],
  })
  world.model.script(call([['look', { id: 'a' }], ['look', { id: 'b' }], ['deaf']]))
  await world.start()
  await world.post('go')
  await look.begins('b')
  look.release('a')
  await world.seen.messages.find('a ended', ({ text }) => text === 'look a')
  world.clock.advance(60_000)
  stubborn.resolve()
  await world.idle()
  expect(await callStatuses(world)).toEqual(['ok', 'unknown', 'ok'])
})

test('one of several reads may need a yes: the others run meanwhile', async () => {
  const look = { name: 'look', reads: true, run: () => ({ text: 'seen', isError: false }) }
  const peek = { name: 'peek', reads: true, run: () => ({ text: 'peeked', isError: false }) }
  await using world = await openWorld({ tools: [look, peek], rules: { approve: ['peek'] } })
  world.model.script(call([['look'], ['peek'], ['look']]), say('done'))
  await world.start()
  await world.post('go')
  await world.idle()
  const { id } = await onlyApproval(world)
  expect(results(world, 1)).toEqual(['seen', `waiting: approval ${id}`, 'seen'])
})

/** Opens a world in which a call of `stop` with these arguments ended with its outcome unknown. */
async function openDoubtful(options: Partial<StubTool>) {
  const { ran, tool } = stopTool(options)
  const begun = Promise.withResolvers<void>()
  const { run } = tool
  tool.run = () => {
    begun.resolve()
    return new Promise<never>(() => undefined) as never
  }
  const world = await openWorld({ tools: [tool] })
  world.model.script(call([['stop', { server: 'a', force: true }]]))
  await world.start()
  await world.post('go')
  await begun.promise
  world.kill()
  tool.run = run
  world.model.script(say('I do not know'))
  await world.start()
  await untilSaid(world, 'I do not know')
  return { world, ran }
}

test('promise 3: a destructive call is not repeated with equal arguments after an unknown outcome without a yes', async () => {
  const { world, ran } = await openDoubtful({ destructive: true })
  await using _ = world
  expect(await callStatuses(world)).toEqual(['unknown'])
  world.model.script(
    call([
      ['stop', '{ "force": true, "server": "a" }'],
      ['stop', { server: 'b', force: true }],
    ]),
    say('asked'),
    say('I know'),
  )
  await world.post('again')
  await untilSaid(world, 'asked')
  const { id, reason } = await onlyApproval(world)
  expect(reason).toMatch(/^the outcome of the same call before is unknown/)
  expect(ran).toEqual([{ server: 'b', force: true }])
  await world.approvals.decide({ id, decision: 'approve', ...OWNER })
  await untilSaid(world, 'I know')
  expect(ran).toEqual([
    { server: 'b', force: true },
    { force: true, server: 'a' },
  ])
})

test('a yes to the repeat ends the doubt, unless its outcome is unknown too', async () => {
  const { world, ran } = await openDoubtful({ destructive: true })
  await using _ = world
  const stop = call([['stop', { server: 'a', force: true }]])
  world.clock.advance(1_000)
  world.model.script(stop, say('asked'), say('I know'), stop, say('done'))
  await world.post('again')
  await untilSaid(world, 'asked')
  await world.approvals.decide({ id: (await onlyApproval(world)).id, decision: 'approve', ...OWNER })
  await untilSaid(world, 'I know')
  world.clock.advance(1_000)
  await world.post('and again')
  await untilSaid(world, 'done')
  expect([ran.length, await callStatuses(world)]).toEqual([2, ['unknown', 'ok', 'ok']])
  await world.store.write(tx =>
    tx.updateTable('tool_calls').set({ status: 'unknown' }).where('approval_id', 'is not', null).execute(),
  )
  world.clock.advance(1_000)
  world.model.script(stop, say('asked once more'))
  await world.post('a last time')
  await untilSaid(world, 'asked once more')
  expect([ran.length, (await callStatuses(world)).at(-1)]).toEqual([2, 'waiting'])
})

test('one that destroys nothing may be repeated after an unknown outcome', async () => {
  const { world, ran } = await openDoubtful({ destructive: false })
  await using _ = world
  world.model.script(call([['stop', { server: 'a', force: true }]]), say('done'))
  await world.post('again')
  await untilSaid(world, 'done')
  expect(ran).toHaveLength(1)
})

test('a call whose server still starts after a crash waits for it, and is made again where that does no harm', async () => {
  const listed = Promise.withResolvers<void>()
  const look = heldTool('look', { reads: true })
  let asked = 0
  await using world = await openWorld({
    tools: [look.tool],
    starting: () => (++asked > 1 ? listed.promise : Promise.resolve()),
  })
  world.model.script(call([['look', { id: 'a' }]]), say('done'))
  await world.start()
  await world.post('go')
  await look.begins('a')
  world.kill()
  world.tools.delete('look')
  await world.start()
  await until('the next life asks for the tool', () => asked === 2)
  world.tools.set('look', look.tool)
  listed.resolve()
  await look.begun.find('it is made again', _id => look.begun.all.length === 2)
  look.release('a')
  await world.idle()
  expect(results(world, 1)).toEqual(['look a'])
})
