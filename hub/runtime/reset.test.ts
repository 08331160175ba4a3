import { expect, test } from 'vitest'
import { openWorld, type World } from '../../tests/support/runtime-world.ts'
import { call, hold, say } from '../../tests/support/scripted-model.ts'

const lastRequest = (world: World) => world.model.requests.all.at(-1)?.messages.map(({ text }) => text) ?? []

async function ask(world: World, text: string, answer: string): Promise<void> {
  world.model.script(say(answer))
  await world.post(text)
  await world.idle()
}

test('a reset costs no step; the next cycle starts fresh with the note and the stored context', async () => {
  await using world = await openWorld()
  await world.start()
  world.model.script(call([['store_context', { key: 'wish', value: 'quiet nights' }]]), say('stored'))
  await world.post('my secret plan')
  await world.idle()
  expect(await world.reset({ agent: 'homelab', by: 'alex', message: 'you were confused' })).toEqual({
    conversation: 'homelab',
  })
  await world.idle()
  expect(world.model.requests.all).toHaveLength(2)
  expect(world.seen.messages.all.at(-1)).toMatchObject({ kind: 'notice', conversation: 'homelab' })
  await ask(world, 'hello', 'hi')
  const texts = lastRequest(world)
  expect(texts.join('\n')).not.toContain('my secret plan')
  expect(texts[0]).toContain('alex started your history fresh: you were confused')
  expect(texts[0]).toContain('- wish: quiet nights')
  expect(texts.at(-1)).toContain('hello')
  const [session] = await world.store.db.selectFrom('sessions').selectAll().execute()
  expect(session).toMatchObject({ reason: 'reset', first_seq: 1, last_seq: 4, head: null })
  expect(session?.summary).toContain('my secret plan')
})

test('a reset stops the cycle that runs, and what comes then starts fresh', async () => {
  await using world = await openWorld({
    tools: [{ name: 'look', run: () => ({ text: 'fine', isError: false }) }],
  })
  await world.start()
  const held = hold(call([['look']]))
  world.model.script(held.turn)
  await world.post('look')
  await held.begun
  await world.reset({ agent: 'homelab', by: 'alex' })
  await world.idle()
  expect(world.seen.messages.all.at(-1)?.text).toContain('I was stopped by alex')
  await ask(world, 'again', 'yes')
  expect(lastRequest(world)[0]).toContain('alex started your history fresh')
  expect(lastRequest(world).join('\n')).not.toContain('I was stopped')
})

test('what comes together with a reset is answered in the fresh history', async () => {
  await using world = await openWorld()
  await world.start()
  await ask(world, 'old', 'old answer')
  world.semaphore.resize(0)
  await world.reset({ agent: 'homelab', by: 'alex' })
  await world.post('new')
  world.model.script(say('new answer'))
  world.semaphore.resize(8)
  await world.idle()
  expect(lastRequest(world)).toHaveLength(1)
  expect(lastRequest(world)[0]).toContain('new')
  expect(world.seen.messages.all.at(-1)?.text).toBe('new answer')
})

test('a crash at any write of a reset starts fresh once', async () => {
  for (const when of ['before', 'after'] as const) {
    for (let write = 1; write <= 3; write++) {
      await using world = await openWorld()
      await world.start()
      await ask(world, 'old', 'old answer')
      world.kill()
      await world.start({ write, when })
      const finished = world.reset({ agent: 'homelab', by: 'alex' }).then(() => world.idle())
      await Promise.race([finished, world.died])
      await world.start()
      await world.idle()
      const sessions = await world.store.db.selectFrom('sessions').selectAll().execute()
      const posted = await world.store.db
        .selectFrom('inbox')
        .where('source', '=', 'reset')
        .selectAll()
        .execute()
      expect(sessions.length, `${when} ${write}`).toBe(posted.length)
      await ask(world, 'new', 'new answer')
      expect(lastRequest(world).join('\n').includes('old answer')).toBe(posted.length === 0)
    }
  }
})

test('a reset of nobody says who there is', async () => {
  await using world = await openWorld()
  await world.start()
  await expect(world.reset({ agent: 'nobody', by: 'alex' })).rejects.toThrow('agents: homelab')
})

test('/reset in a conversation starts its agent fresh, once for each clientId; other texts are messages', async () => {
  await using world = await openWorld()
  await world.start()
  await ask(world, 'old', 'old answer')
  await world.post('/reset  you went astray ', 'homelab', 'c1')
  await world.post('/reset  you went astray ', 'homelab', 'c1')
  await world.idle()
  const said = world.seen.messages.all.slice(-2).map(({ kind, text }) => `${kind}: ${text}`)
  expect(said[0]).toBe('user: /reset  you went astray ')
  expect(said[1]).toContain('notice: homelab starts fresh, as alex asked: you went astray')
  await ask(world, '/resetting is another word', 'yes')
  expect(lastRequest(world)[0]).toContain('fresh: you went astray')
  expect(lastRequest(world).join()).not.toContain('old answer')
  expect(lastRequest(world).at(-1)).toContain('/resetting is another word')
})
