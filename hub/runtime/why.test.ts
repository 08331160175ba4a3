import { expect, test } from 'vitest'
import { openWorld } from '../../tests/support/runtime-world.ts'
import { call, say } from '../../tests/support/scripted-model.ts'

const PRICE = { currency: 'EUR', input: 2, cachedInput: 1, output: 4 }
const SMALL = { context: 8_192, maxOutput: 512, price: PRICE }

const bulky = {
  name: 'read_log',
  reads: true,
  run: () => ({ text: 'a line of the log\n'.repeat(120), isError: false }),
}

test('the request of every step is rebuilt as it was sent, also after later stubs and summaries', async () => {
  await using world = await openWorld({ model: SMALL, tools: [bulky] })
  await world.start()
  for (let round = 0; round < 14; round++) {
    world.model.script(call([['read_log']]), say(`answer ${round}`))
    await world.post(`question ${round} ${'word '.repeat(100)}`)
    await world.idle()
  }
  const forms = await world.store.db.selectFrom('history').select('form').distinct().execute()
  expect(forms.map(({ form }) => form)).toContain('stub')
  expect(await world.store.db.selectFrom('sessions').selectAll().execute()).not.toEqual([])

  const explained = await Promise.all(world.seen.ended.all.map(({ cycle }) => world.runtime.why(cycle)))
  const sent = world.model.requests.all.filter(({ tools }) => tools.length > 0)
  const rebuilt = explained.flatMap(({ steps }) => steps)
  expect(rebuilt).toHaveLength(28)
  const plain = (messages: readonly object[]) =>
    messages.map(message => ({ ...message, facts: undefined, tellsContext: undefined }))
  expect(rebuilt.map(({ messages }) => plain(messages))).toEqual(sent.map(({ messages }) => plain(messages)))
  for (const { preamble, steps } of explained)
    for (const { request } of steps) {
      expect(request).toMatchObject({
        model: 'scripted',
        input: 10,
        output: 5,
        costMicros: 40,
        currency: 'EUR',
      })
      expect(request?.preamble).toBe(preamble?.digest)
    }
})

test('a cycle whose agent has another prompt by now says so, and one that is not there is not found', async () => {
  await using world = await openWorld()
  await world.start()
  world.model.script(say('hello'))
  await world.post('hi')
  await world.idle()
  const { cycle } = (await world.seen.ended.find('the end', () => true)) ?? {}
  const agent = world.agents.get('homelab')
  if (agent) world.agents.set('homelab', { ...agent, prompt: 'You are somebody else.' })
  const { steps, preamble } = await world.runtime.why(cycle)
  expect(steps).toMatchObject([{ step: 1, fresh: 0, answer: { role: 'assistant', text: 'hello' } }])
  expect(steps[0]?.request?.preamble).not.toBe(preamble?.digest)
  await expect(world.runtime.why('cyc_none')).rejects.toMatchObject({ code: 'not_found' })
})
