import { expect, test } from 'vitest'
import { said } from '../../tests/support/failing-world.ts'
import { askingTool } from '../../tests/support/questions.ts'
import { openWorld } from '../../tests/support/runtime-world.ts'
import { call, createScriptedModel, refuse, say } from '../../tests/support/scripted-model.ts'

const LONG = Array.from({ length: 500 }, (_, at) => `word${at}`).join(' ')

test('a cycle that waits for its next try asks the model that the config names by then, with room for it', async () => {
  await using world = await openWorld()
  await world.start()
  world.model.script(say(LONG), say(LONG), say(LONG), refuse('network'))
  for (const text of ['one', 'two', 'three', 'four']) {
    await world.post(`${text} ${LONG}`)
    if (text === 'four') break
    await world.idle()
  }
  await world.clock.armed(1_500)
  const other = createScriptedModel([say('here')], { context: 4_096, maxOutput: 128 })
  world.changed.model = { ...other, canSummarize: false }
  world.clock.advance(1_500)
  await world.idle()
  expect(said(world).at(-1)).toBe('here')
  expect(world.model.requests.all).toHaveLength(4)
  expect(other.requests.all).toHaveLength(1)
  const [request] = other.requests.all
  expect(request?.maxOutput).toBe(128)
  expect(JSON.stringify(request?.messages).length).toBeLessThan(
    JSON.stringify(world.model.requests.all[3]?.messages).length / 2,
  )
})

test('a new model has all its tries', async () => {
  await using world = await openWorld()
  await world.start()
  world.model.script(refuse('server'), refuse('server'))
  await world.post('hi')
  const first = await world.clock.armed(1_500)
  world.clock.advance(1_500)
  const second = await world.clock.armed(1_500, first)
  const other = createScriptedModel([refuse('server'), say('here')])
  world.changed.model = other
  world.clock.advance(1_500)
  await world.clock.armed(1_500, second)
  world.clock.advance(1_500)
  await world.idle()
  expect(said(world)).toEqual(['here'])
})

test('a server that has the model write is answered by the model that the config names by then', async () => {
  const messages = [{ role: 'user', content: { type: 'text', text: 'Name a color' } }]
  const { tool, answers } = askingTool('sampling/createMessage', { messages, maxTokens: 50 })
  await using world = await openWorld({ tools: [tool] })
  world.model.script(call([['setup']]), refuse('network'))
  await world.start()
  await world.post('go')
  await world.clock.armed(1_500)
  world.changed.model = { ...createScriptedModel([say('blue'), say('done')]), name: 'other' }
  world.clock.advance(1_500)
  await world.idle()
  expect(answers).toMatchObject([{ content: { text: 'blue' }, model: 'other' }])
})
