import { expect, test } from 'vitest'
import { withoutPictures } from '../../schemas/chat.ts'
import { makePng } from '../../tests/support/make-png.ts'
import { openWorld } from '../../tests/support/runtime-world.ts'
import { call, createScriptedModel, say } from '../../tests/support/scripted-model.ts'

const images = [{ mimeType: 'image/png' as const, data: makePng(40, 30) }]

test('a picture beside a message reaches the model with it, once, and stays with the message', async () => {
  await using world = await openWorld()
  world.model.script(say('a grey square'))
  await world.start()
  const message = { conversation: 'homelab', text: 'what is this?', author: 'owner', token: 'owner', images }
  const posted = await world.router.postMessage(message)
  await world.idle()
  const [seen] = world.model.requests.all[0]?.messages ?? []
  expect(seen).toMatchObject({ role: 'user', images })
  expect(seen?.text).toContain('Message from owner in the conversation homelab, with 1 picture')
  expect(seen?.text).not.toContain(images[0]?.data)
  expect(posted.data).toEqual({ images })
})

test('a picture of a tool reaches the model with its result', async () => {
  const plot = { name: 'plot', run: () => ({ text: 'the load', isError: false, images }) }
  await using world = await openWorld({ tools: [plot] })
  world.model.script(call([['plot']]), say('it is low'))
  await world.start()
  await world.post('plot the load')
  await world.idle()
  const result = world.model.requests.all[1]?.messages.at(-1)
  expect(result).toMatchObject({ role: 'tool', text: 'the load', images })
})

test('who reads a conversation as text gets the number of its pictures', async () => {
  await using world = await openWorld()
  world.model.script(say('a grey square'))
  await world.start()
  const message = { conversation: 'homelab', text: 'what is this?', author: 'owner', token: 'owner', images }
  const posted = await world.router.postMessage(message)
  await world.idle()
  expect(withoutPictures(posted)).toMatchObject({ text: 'what is this?', data: { pictures: 1 } })
  expect(JSON.stringify(withoutPictures(posted))).not.toContain(images[0]?.data)
})

test('a person is told once, right after the message, that the model sees no pictures', async () => {
  await using world = await openWorld()
  world.changed.model = { ...createScriptedModel([say('a name'), say('a text')]), name: 'qwen3', sees: false }
  await world.start()
  const message = {
    conversation: 'homelab',
    text: 'what is this?',
    author: 'owner',
    token: 'owner',
    clientId: 'a',
  }
  const first = await world.router.postMessage({ ...message, images })
  expect(await world.router.postMessage({ ...message, images })).toEqual(first)
  await world.router.postMessage({ ...message, text: 'and this?', clientId: 'b' })
  await world.idle()
  const told = world.seen.messages.all.filter(({ kind }) => kind === 'notice')
  expect(told).toMatchObject([
    {
      seq: first.seq + 1,
      inReplyTo: [first.id],
      text: expect.stringMatching(/^qwen3 is not known to see pictures/),
    },
  ])
})
