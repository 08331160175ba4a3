import { expect, test } from 'vitest'
import { openLetters, said, statuses, told } from '../../tests/support/failing-world.ts'
import { openWorld, type World } from '../../tests/support/runtime-world.ts'
import { call, refuse, say } from '../../tests/support/scripted-model.ts'
import { discardDeadLetter, listDeadLetters, retryDeadLetter } from '../store/dead-letters.ts'

const retry = async (world: World, id: string) => {
  const letter = await world.store.write(tx => retryDeadLetter(tx, id, 'alex', world.clock.now()))
  world.runtime.wake(letter.thread)
  await world.idle()
  return letter
}

test.for(['auth', 'rejected', 'overflow'] as const)('promise 4: %s is a dead letter at once', async kind => {
  await using world = await openWorld()
  // The hub shortens a request that is too long and asks once more.
  world.model.script(...(kind === 'overflow' ? [refuse(kind)] : []), refuse(kind), say('hello again'))
  await world.start()
  await world.post('break')
  await world.idle()
  expect(await statuses(world)).toEqual(['dead'])
  expect(world.seen.states.all.at(-1)?.status).toBe('failed')
  const [letter] = await openLetters(world)
  expect(letter).toMatchObject({
    agent: 'homelab',
    conversation: 'homelab',
    retryable: false,
    error: { code: kind },
    items: [{ kind: 'message', text: 'break' }],
  })
  await world.post('hi')
  await world.idle()
  // The window holds a stub in place of the batch.
  const texts = world.model.requests.all.at(-1)?.messages.map(({ text }) => text) ?? []
  expect(texts).toHaveLength(2)
  expect(texts[0]).toMatch(/^\[INBOX - 1 event\]\n\(This batch failed and lies in the dead letters/)
  expect(said(world)).toEqual(['hello again'])
})

test('a retry gives the batch back once, with what had run, and the retried letter keeps what it was about', async () => {
  const look = { name: 'look', run: () => ({ text: 'seen', isError: false }) }
  await using world = await openWorld({ tools: [look] })
  world.model.script(call([['look']]), refuse('auth'), say('done now'))
  await world.start()
  const sent = await world.post('look around')
  await world.idle()
  const [letter] = await openLetters(world)
  expect(letter).toMatchObject({ steps: 1, calls: [{ tool: 'look', status: 'ok' }] })
  await retry(world, letter?.id ?? '')
  expect(said(world)).toEqual(['done now'])
  const answer = world.seen.messages.all.at(-1)
  expect(answer?.inReplyTo).toEqual([sent.id])
  const last = world.model.requests.all[2]?.messages.at(-1)
  expect(last?.text).toMatch(/\[INBOX - 2 events\][\s\S]*look around[\s\S]*had run[\s\S]*look \{\}: ok/)
  expect(await statuses(world)).toEqual(['dead', 'done'])
  await expect(retry(world, letter?.id ?? '')).rejects.toMatchObject({ code: 'conflict' })
  const [retried] = await listDeadLetters(world.store.db, 'retried')
  expect(retried).toMatchObject({ decidedBy: 'alex', items: [{ text: 'look around' }] })
})

/** Opens a world in which a cycle changed two things, looked at one, and became a dead letter. */
async function openChanged() {
  const ran: string[] = []
  const tool = (name: string, reads = false) => ({
    name,
    reads,
    run: ({ id }: Record<string, unknown>) => ({ text: `${ran.push(`${name} ${id}`)}`, isError: false }),
  })
  const world = await openWorld({ tools: [tool('change'), tool('look', true)] })
  world.model.script(
    call([
      ['change', { id: 1 }],
      ['change', { id: 2 }],
      ['look', { id: 1 }],
    ]),
    refuse('auth'),
  )
  await world.start()
  await world.post('change it')
  await world.idle()
  ran.length = 0
  return { world, ran, id: (await openLetters(world))[0]?.id ?? '' }
}

test('promise 4: a retry asks before it repeats a change that had succeeded, and asks for nothing else', async () => {
  const { world, ran, id } = await openChanged()
  await using _ = world
  const same = [
    ['change', { id: 1 }],
    ['change', { id: 3 }],
    ['look', { id: 1 }],
  ] as const
  world.model.script(call(same), say('waiting'))
  await retry(world, id)
  expect(ran).toEqual(['change 3', 'look 1'])
  const [asked] = world.seen.approvals.all
  expect(asked).toMatchObject({ tool: 'change', arguments: { id: 1 }, status: 'open' })
  expect(asked?.reason).toContain('succeeded')
  // The outcome of the approval belongs to the retry; a later cycle does not.
  world.model.script(call([['change', { id: 2 }]]), say('waiting again'))
  await world.approvals.decide({ id: asked?.id ?? '', decision: 'approve', by: 'alex', where: 'web' })
  await world.seen.messages.find('the agent goes on', ({ text }) => text === 'waiting again')
  await world.idle()
  expect(ran).toEqual(['change 3', 'look 1', 'change 1'])
  world.model.script(call([['change', { id: 1 }]]), say('done'))
  await world.post('and once more, please')
  await world.idle()
  expect(ran).toEqual(['change 3', 'look 1', 'change 1', 'change 1'])
})

test('promise 4: a retry that failed too asks for what had succeeded in the first one', async () => {
  const { world, ran, id } = await openChanged()
  await using _ = world
  world.model.script(refuse('auth'))
  await retry(world, id)
  const [second] = await openLetters(world)
  world.model.script(call([['change', { id: 1 }]]), say('waiting'))
  await retry(world, second?.id ?? '')
  expect(ran).toEqual([])
  expect(world.seen.approvals.all).toHaveLength(1)
})

test('a retry of a batch that began with a reset does not start fresh again', async () => {
  await using world = await openWorld()
  await world.start()
  world.semaphore.resize(0)
  await world.reset({ agent: 'homelab', by: 'alex' })
  await world.post('break')
  world.model.script(refuse('auth'), say('noted'), say('done now'))
  world.semaphore.resize(8)
  await world.idle()
  await world.post('remember the moonstone')
  await world.idle()
  const [letter] = await openLetters(world)
  await retry(world, letter?.id ?? '')
  expect(said(world)).toEqual(['noted', 'done now'])
  const texts = world.model.requests.all.at(-1)?.messages.map(({ text }) => text) ?? []
  expect(texts.join('\n')).toContain('remember the moonstone')
  expect(texts.at(-1)).toContain('break')
})

test.for(['before', 'after'] as const)('killed %s the write of a retry, it is tried once', async when => {
  await using world = await openWorld()
  world.model.script(refuse('auth'))
  await world.start()
  await world.post('again')
  await world.idle()
  const id = (await openLetters(world))[0]?.id ?? ''
  if (when === 'after') {
    await world.store.write(tx => retryDeadLetter(tx, id, 'alex', world.clock.now()))
  } else {
    const undone = world.store.write(async tx => {
      await retryDeadLetter(tx, id, 'alex', world.clock.now())
      throw new Error('killed')
    })
    await expect(undone).rejects.toThrow('killed')
  }
  world.kill()
  world.model.script(say('done'))
  await world.start()
  await world.idle()
  expect(said(world)).toEqual(when === 'after' ? ['done'] : [])
  expect(await openLetters(world)).toHaveLength(when === 'after' ? 0 : 1)
  if (when === 'before') await retry(world, id)
  expect(said(world)).toEqual(['done'])
})

test('what is discarded is never tried again', async () => {
  await using world = await openWorld()
  world.model.script(refuse('auth'))
  await world.start()
  await world.post('break')
  await world.idle()
  const id = (await openLetters(world))[0]?.id ?? ''
  await world.store.write(tx => discardDeadLetter(tx, id, 'alex', 5))
  await expect(retry(world, id)).rejects.toMatchObject({ code: 'conflict' })
  await world.start()
  await world.idle()
  expect(await openLetters(world)).toEqual([])
  expect(world.model.requests.all).toHaveLength(1)
})

const deaths = [2, 3].flatMap(write => [
  { write, when: 'before' as const },
  { write, when: 'after' as const },
])

test.for(deaths)('killed $when write $write of a cycle that dies, there is one dead letter', async death => {
  await using world = await openWorld()
  world.model.script(refuse('auth'), refuse('auth'))
  await world.start(death)
  void world.post('break').catch(() => undefined)
  await Promise.race([world.died, world.idle()])
  world.kill()
  await world.start()
  await world.idle()
  expect(await openLetters(world)).toHaveLength(1)
  expect(told(world).length).toBeLessThanOrEqual(1)
  const rows = await world.store.db
    .selectFrom('messages')
    .select('kind')
    .where('kind', '=', 'error')
    .execute()
  expect(rows).toHaveLength(1)
})
